"""An app that shows one hostile text in every kind of widget that the dashboard uses."""

import pandas as pd
import streamlit as st

from pages.components import diff, text
from tests.hostile import TEXTS

chosen = TEXTS[int(st.query_params.get("text", "0"))]
marked = text.md(chosen)


def place(name: str) -> object:
    return st.container(key=f"place-{name}")


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
    st.button(marked, help=marked)
with place("popover"), st.popover(marked):
    st.write("inside")
with place("expander"), st.expander(marked):
    st.write("inside")
for kind in ("error", "warning", "info", "success"):
    with place(kind):
        getattr(st, kind)(marked)
with place("segmented"):
    st.segmented_control("choice", ["a"], format_func=lambda _: marked)
with place("checkbox"):
    st.checkbox(marked)
with place("label"):
    st.text_input(marked, value=chosen)
with place("subheader"):
    st.subheader(marked, anchor=False)
with place("diff"):
    diff.show(chosen, chosen + " added")
with place("progress"):
    st.progress(0.5, marked)
with place("page-link"):
    st.page_link("http://127.0.0.1:1/", label=marked)
with place("selectbox"):
    st.selectbox("select", [chosen], key="select")
with place("multiselect"):
    st.multiselect("many", [chosen], default=[chosen])
with place("dataframe"):
    st.dataframe(pd.DataFrame({"text": [chosen]}))
st.text("gallery complete")
