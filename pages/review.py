"""Review: what is proposed waits here for a person, who sees why, and decides."""

import streamlit as st

from pages.components import frame, review_one, review_queue, review_table
from pages.components.filters import say_if_unknown
from pages.components.text import count

ONE, TABLE = "One by one", "Table"
VIEWS = (ONE, TABLE)

desk = frame.open_desk()
st.caption(
    "What reflection, imports and the search for duplicates propose waits here. Nothing of it is "
    "in the bank until you accept it."
)
review_table.open_if_clicked(ONE)
with st.container(horizontal=True, vertical_alignment="center", key="review-controls"):
    found = review_queue.queue(desk)
    say_if_unknown(review_table.VIEW, VIEWS)
    view = st.segmented_control(
        "View", VIEWS, default=ONE, key=review_table.VIEW, bind="query-params", required=True,
        label_visibility="collapsed",
    )  # fmt: skip

filtered = review_queue.filtered_by()
if not found.proposals:
    review_queue.nothing(found, filtered)
    st.stop()
if desk.is_past:
    st.info("Proposals are decided on the latest revision: go back to it to decide.")
if filtered:
    st.caption(f"{len(found.ids)} of {count(found.in_state, 'proposal')} · {filtered}")
if view == TABLE:
    review_table.show(desk, found)
elif proposal := review_queue.on_show(found):
    review_queue.progress(found, proposal)
    review_one.show(desk, found, proposal)
