/** Security of the pages that `warploom` writes. */

/**
 * Return a page with a content security policy: its own styles and scripts, embedded pictures, and nothing from a network.
 *
 * Throws an Error for a text without a head.
 */
export function secured(page: string, nonce: string): string {
  const policy = [
    "default-src 'none'",
    "img-src data:",
    "style-src 'unsafe-inline'",
    `script-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const head = /<head[^>]*>/i.exec(page);
  if (head === null) throw new Error("the page has no head");
  const end = head.index + head[0].length;
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  const rest = page.slice(end).replace(/<script(?=[\s>])/gi, `<script nonce="${nonce}"`);
  return page.slice(0, end) + meta + rest;
}
