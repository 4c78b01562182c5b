"use strict";
// Shared by the scripts of all pages: the data of the page, and a function that creates elements with plain text.
const page = {
  data: JSON.parse(document.getElementById("data").textContent),
  make(name, attributes = {}, text = "") {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  },
};
