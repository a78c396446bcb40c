"""Map: memories alike in meaning lie near each other; one more view of the same selection."""

import streamlit as st

from pages.components import filters, frame, map_fitting, map_page

desk = frame.open_desk()
snapshot = desk.snapshot
st.caption(
    "Memories alike in meaning lie near each other. Select some by a click, a box or a lasso; they "
    "are then selected everywhere."
)
if not len(snapshot):
    st.subheader("No memories to map yet")
    st.markdown("Add some in Browse, or open the **demo library** from the bank's menu above.")
    st.stop()
filters.check_address(snapshot)
laid = map_page.stored_map(desk)
if laid is None:
    map_fitting.first_map(desk)
    map_page.without_map(desk)
else:
    map_fitting.section(desk, laid)
    map_page.show(desk, laid)
