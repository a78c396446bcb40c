"""An app that shows hostile texts in every kind of widget that the dashboard uses."""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.components import diff, text
from tests.hostile import TEXTS


def show(number: int, chosen: str) -> None:
    """One text, in each place there is."""
    marked = text.md(chosen)

    def place(name: str) -> DeltaGenerator:
        return st.container(key=f"place-{number}-{name}")

    with place("show"):
        text.show(chosen)
    with place("code"):
        st.code(chosen, language=None, wrap_lines=True)
    with place("list"):
        text.show_list((chosen,), numbered=True)
    with place("markdown"):
        st.markdown(marked)
    with place("marked"):
        st.markdown(text.marked(chosen, chosen))
    with place("marked-in-part"):
        st.markdown(text.marked(chosen, " ".join(chosen.replace("/", " ").split()[::2])))
    with place("strong"):
        st.markdown(f"before **{marked}** after")
    with place("caption"):
        st.caption(f"{marked} · and more")
    with place("button"):
        st.button(marked, help=marked, key=f"button-{number}")
    with place("popover"), st.popover(marked):
        st.write("inside")
    with place("expander"), st.expander(marked):
        st.write("inside")
    for kind in ("error", "warning", "info", "success"):
        with place(kind):
            getattr(st, kind)(marked)
    with place("segmented"):
        st.segmented_control("choice", ["a"], format_func=lambda _: marked, key=f"choice-{number}")
    with place("checkbox"):
        st.checkbox(marked, key=f"check-{number}")
    with place("label"):
        st.text_input(marked, value=chosen, key=f"label-{number}")
    with place("subheader"):
        st.subheader(marked, anchor=False)
    with place("diff"):
        diff.show(chosen, chosen + " added")
    with place("progress"):
        st.progress(0.5, marked)
    with place("page-link"):
        st.page_link("http://127.0.0.1:1/", label=marked)
    with place("selectbox"):
        st.selectbox("select", [chosen], key=f"select-{number}")
    with place("multiselect"):
        st.multiselect("many", [chosen], default=[chosen], key=f"many-{number}")
    with place("dataframe"):
        st.dataframe(pd.DataFrame({"text": [chosen]}))


for number, chosen in enumerate(TEXTS):
    show(number, chosen)
st.text("gallery complete")
