"use strict";
// What the scripts of every page have: the page's data, and a maker of elements, whose text is never markup.
const page = {
  data: JSON.parse(document.getElementById("data").textContent),
  make(name, attributes = {}, text = "") {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  },
};
