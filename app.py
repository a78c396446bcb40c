"""The page's frame: configuration, navigation, the status line; nothing else."""

import streamlit as st

from pages.components import frame
from pages.components.navigation import frame_is_there, navigation

st.set_page_config(page_title="Winnow", page_icon="🌾", layout="wide")
frame_is_there()
page = navigation()
desk = frame.open_desk()
frame.header(desk)
frame.footer(desk)  # before the page, which may stop early and would take the way back with it
page.run()
