"""Browse: every lesson, filtered, ordered, read in full and changed."""

import streamlit as st

from pages.components import browse_view, edit_forms, filters, frame
from pages.components.bulk_bar import selection_bar
from pages.components.first_minute import four_ways_in

desk = frame.open_desk()
snapshot = desk.snapshot
four_ways_in(desk)
filters.check_address(snapshot)

with st.container(horizontal=True, vertical_alignment="center", key="controls"):
    kind = filters.kind_tabs(snapshot)
    search = filters.search_box()
    chosen = filters.filter_menu(snapshot)
    view = st.segmented_control(
        "View", filters.VIEWS, default="Table", key="view", required=True,
        label_visibility="collapsed", bind="query-params",
    )  # fmt: skip
    edit_forms.add_button(desk, kind)

rows = filters.rows(snapshot, kind, search, chosen)
if not len(snapshot):
    browse_view.nothing_yet()
elif not len(rows):
    browse_view.nothing_matches(snapshot)
else:
    browse_view.shown(desk, rows, view or "Table", kind, search, chosen)
selection_bar(desk)
