"""Browse: every lesson, filtered, ordered and read in full."""

import streamlit as st

from pages.components import detail, edit_forms, filters, frame, selection, tables
from pages.components.bulk_bar import selection_bar
from pages.components.export import table_downloads
from pages.components.first_minute import four_ways_in
from pages.components.text import count, md

desk = frame.open_desk()
snapshot = desk.snapshot
four_ways_in(desk)
filters.check_address(snapshot)

controls = st.container(horizontal=True, vertical_alignment="center", key="controls")
with controls:
    kind = filters.kind_tabs(snapshot)
    search = filters.search_box()
    chosen = filters.filter_menu(snapshot)
    view = st.segmented_control(
        "View", filters.VIEWS, default="Table", key="view", required=True,
        label_visibility="collapsed", bind="query-params",
    )  # fmt: skip
    edit_forms.add_button(desk, kind)

if not len(snapshot):
    st.subheader("No memories yet")
    st.markdown(
        "Lessons come in from runs, from other systems, or by hand. To look around first, open "
        "the **demo library** from the bank's menu above."
    )
    selection_bar(desk)
    st.stop()

rows = filters.rows(snapshot, kind, search, chosen)
if not len(rows):
    st.subheader("Nothing matches")
    st.markdown(f"None of {count(len(snapshot), 'memory', 'memories')} passes the filters.")
    filters.clear_button()
    selection_bar(desk)
    st.stop()

words = [f"{len(rows):,} of {count(len(snapshot), 'memory', 'memories')}"]
words += [f"{name} {md(str(value))}" for name, value in chosen.items()]
st.caption(" · ".join(words))

opened = selection.opened(snapshot)
main, side = st.columns([3, 2]) if opened else (st.container(), None)
with main:
    if view == "Read":
        tables.reading(snapshot, rows)
    else:
        filtered = f"{kind}-{search}-{sorted(chosen.items())}"
        tables.table(snapshot, rows, filtered, narrow=side is not None)
    table_downloads(lambda: tables.frame_of(snapshot, rows), "memories")
if selection.opened(snapshot) != opened:
    st.rerun()
if side is not None and opened:
    with side:
        detail.panel(desk, opened)
selection_bar(desk)
