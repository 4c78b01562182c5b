/** Logic of the extension that needs no editor. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { findCommand } from "../src/findCommand";
import { secured } from "../src/html";

const NONE = { command: "", pythonPath: "" };

test("the setting of the command wins, and then the Python interpreter", () => {
  const settings = { command: "/tools/warploom", pythonPath: "/py" };
  assert.deepEqual(findCommand(settings, ["/w"], () => true), ["/tools/warploom"]);
  assert.deepEqual(findCommand({ ...settings, command: "" }, ["/w"], () => true), ["/py", "-P", "-m", "warploom"]);
});

test("without settings the virtual environment of a folder is used, and then the PATH", () => {
  const second = "/b/.venv/bin/warploom";
  assert.deepEqual(findCommand(NONE, ["/a", "/b"], (file) => file === second), [second]);
  assert.deepEqual(findCommand(NONE, ["/a", "/b"], () => false), ["warploom"]);
  assert.deepEqual(findCommand(NONE, [], () => true), ["warploom"]);
});

test("a page gets a policy in its head, and a nonce in each script", () => {
  const page = "<html><head lang='x'><script>a</script></head><body><script id='data'>b</script><p>script</p></body></html>";
  const found = secured(page, "n0nce");
  assert.match(found, /^<html><head lang='x'><meta http-equiv="Content-Security-Policy" content="default-src 'none';/);
  assert.match(found, /script-src 'nonce-n0nce'/);
  assert.equal(found.match(/<script nonce="n0nce"/g)?.length, 2);
  assert.doesNotMatch(found, /https?:/);
});

test("a text without a head is refused", () => {
  assert.throws(() => secured("error: no page", "n"), /no head/);
});
