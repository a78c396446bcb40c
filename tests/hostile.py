"""Texts that a widget may not take for anything but text."""

from __future__ import annotations

HOST = "evil.example"

TEXTS = (
    "<b>bold</b> <script>alert(1)</script> <img src=x onerror=alert(1)> &lt; &amp; &#65;",
    f"![image](http://{HOST}/pixel.png) [link](http://{HOST}/a) <http://{HOST}/b>",
    f"http://{HOST}/c https://{HOST}/d?x=1&y=2 www.{HOST} ftp://{HOST} me@{HOST} //{HOST}/e",
    "**strong** *em* __under__ _em_ ~~gone~~ `code` ``co`de`` # head - item 1. > quote | a | b |",
    "$x^2$ $$y$$ \\(z\\) \\[w\\] \\alpha C:\\path\\new \\* \\\\",
    ":smile: :streamlit: :material/home: :red[red] :blue-background[b] :small[s] :orange-badge[o]",
    "-> <- --> --- -- >= <= != ~= ... (c) (tm) +- << >> => <->",
    "[^1] [^1]: note [x] [ ] - [ ] task {a} {{b}} ${c} %s %(d)s {0} \\n \\t",
    "مرحبا بالعالم שלום 👩‍👩‍👧 e\u0301 z\u0335 \u202eabc\u202c 𝔘𝔫𝔦 ﷽",
    ":red-background[~~x~~] :green-background[**y**] :rainbow[z] :gray[:help[q]]",
    "+1 +- item * item 1) one =1+1 @SUM(A1) ;-) :-) :) :D 8) <3 :+1: :heart: ::",
    "'quotes' \"double\" `back ''' \"\"\" end",
)
