// Unpack the Chromium of `@sparticuz/chromium` and its libraries: node chromium.mjs FOLDER

import { execFileSync } from "node:child_process";
import { createReadStream, createWriteStream, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";

const folder = process.argv[2];
const packed = join(import.meta.dirname, "node_modules", "@sparticuz", "chromium", "bin");
const unpack = (name, target, options) =>
  pipeline(createReadStream(join(packed, name)), createBrotliDecompress(), createWriteStream(target, options));

mkdirSync(folder, { recursive: true });
const libraries = join(folder, "libraries.tar");
await unpack("al2023.tar.br", libraries);
execFileSync("tar", ["-xf", libraries, "-C", folder]);
rmSync(libraries);
await unpack("chromium.br", join(folder, "chromium"), { mode: 0o755 });
