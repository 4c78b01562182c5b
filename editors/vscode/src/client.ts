/** Client of the language server `warploom lsp`. */

import { createHash } from "node:crypto";
import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn, type LanguageClientOptions } from "vscode-languageclient/node";

import type { Warploom } from "./warploom";

export class Client {
  private client: LanguageClient | undefined;
  private starting: Promise<void> | undefined;

  /** `pictures` is a folder for the pictures of hovers. */
  constructor(
    private readonly warploom: Warploom,
    private readonly pictures: vscode.Uri,
  ) {}

  /** Start the server unless it runs. A missing command matters only to a user who has opened PTX. */
  async start(): Promise<void> {
    this.starting ??= this.startNow().finally(() => {
      this.starting = undefined;
    });
    await this.starting;
  }

  private async startNow(): Promise<void> {
    if (this.client !== undefined) return;
    // With an empty input the server ends at once. The client would report a server that fails in several messages.
    const attempt = await this.warploom.tryToRun(["lsp"]);
    if (attempt === undefined) {
      if (vscode.workspace.textDocuments.some((document) => document.languageId === "ptx")) this.warploom.tellMissing();
      return;
    }
    if (attempt.status !== 0) {
      void vscode.window.showErrorMessage(`The language server of Warploom does not start. ${attempt.stderr.trim()}`);
      return;
    }
    const [command, ...first] = this.warploom.command;
    const server = { command, args: [...first, "lsp", "--stdio"] };
    this.client = new LanguageClient("warploom", "Warploom", server, this.options());
    await this.client.start();
  }

  /** Return the instruction at a position, without its guard and semicolon. */
  async instruction(document: vscode.TextDocument, position: vscode.Position): Promise<string | null> {
    return this.request<string>("warploom/instruction", document, position);
  }

  private async request<Result>(
    method: string,
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<Result | null> {
    const client = this.client;
    if (client === undefined || !client.isRunning()) return null;
    const params = {
      textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
      position: client.code2ProtocolConverter.asPosition(position),
    };
    return client.sendRequest<Result | null>(method, params);
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: [
        { language: "ptx", scheme: "file" },
        { language: "ptx", scheme: "untitled" },
      ],
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: {
        provideHover: async (document, position, token, next) => {
          const hover = await next(document, position, token);
          if (hover && !token.isCancellationRequested) await this.addPicture(hover, document, position);
          return hover;
        },
      },
    };
  }

  /** Add the picture of a layout to a hover, and a link to the page with the layouts of all operands. */
  private async addPicture(hover: vscode.Hover, document: vscode.TextDocument, position: vscode.Position): Promise<void> {
    const svg = await this.request<string>("warploom/layoutPicture", document, position);
    if (svg === null) return;
    // A picture in the text of a hover may have 100,000 characters only, so that it must be a file.
    const name = `${createHash("sha256").update(svg).digest("hex").slice(0, 16)}.svg`;
    const file = vscode.Uri.joinPath(this.pictures, name);
    await vscode.workspace.fs.writeFile(file, Buffer.from(svg));
    const at = encodeURIComponent(JSON.stringify([{ uri: document.uri.toString(), position }]));
    const text = new vscode.MarkdownString(
      `[Layouts of all operands](command:warploom.layout?${at})\n\n![layout](${file.toString()})`,
    );
    text.isTrusted = { enabledCommands: ["warploom.layout"] };
    hover.contents.unshift(text);
  }

  async stop(): Promise<void> {
    await this.starting;
    const client = this.client;
    this.client = undefined;
    if (client?.isRunning()) await client.stop();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }
}
