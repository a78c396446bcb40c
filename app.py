"""The page's frame: configuration, navigation, the status line; nothing else."""

import streamlit as st

from pages.components import frame

st.set_page_config(page_title="Winnow", page_icon="🌾", layout="wide")
page = st.navigation(
    {
        "": [
            st.Page("pages/browse.py", title="Browse", default=True),
            st.Page("pages/query.py", title="Query"),
        ],
    },
    position="top",
)
desk = frame.open_desk()
frame.header(desk)
page.run()
frame.footer(desk)
