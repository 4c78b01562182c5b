// The worker of the playground runs Python. The page creates it from a Blob: two scripts of Pyodide, then this one.
// Its first message has the files. Each later message is a command, and its answer is a JSON text.

"use strict";

const BASE = "https://files.invalid/"; // Pyodide asks for its files at this address, and nothing leaves the worker
let files = {};
let answer = null;

self.fetch = async (request) => {
  const name = String(request.url ?? request).replace(BASE, "");
  const found = files[name];
  if (!found) return new Response(null, { status: 404 });
  const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(found, { headers: { "Content-Type": type } });
};

self.onmessage = async ({ data }) => {
  try {
    if (data.files) {
      const began = performance.now();
      files = data.files;
      const python = await loadPyodide({ indexURL: BASE });
      python.FS.mkdirTree("/packages");
      python.unpackArchive(files["packages.zip"], "zip", { extractDir: "/packages" });
      files = {};
      python.runPython("import sys; sys.path.insert(0, '/packages')");
      answer = python.pyimport("session").answer;
      self.postMessage({ ready: (performance.now() - began) / 1000 });
    } else {
      self.postMessage({ answer: answer(...data.command) });
    }
  } catch (error) {
    self.postMessage({ error: String(error) });
  }
};
