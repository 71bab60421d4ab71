import type { StoredFile } from '../../../api/kiln.ts';

/** Messages as a tree: what is edited or answered anew becomes a branch. Pure. */

/** One message of a conversation. */
export interface Message {
  readonly id: string;
  readonly parentId: string | null;
  readonly role: 'USER' | 'ASSISTANT';
  readonly text: string;
  readonly files: readonly StoredFile[];
  /** Who wrote it, for answers. */
  readonly model: string | null;
}

/** Most characters of the name that a conversation gets by itself. */
const MOST_TITLE = 60;

/** The messages from the first one to this one. */
export function branchTo(messages: readonly Message[], id: string | null): readonly Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const branch: Message[] = [];
  let at = id === null ? undefined : byId.get(id);
  while (at !== undefined && !branch.includes(at)) {
    branch.unshift(at);
    at = at.parentId === null ? undefined : byId.get(at.parentId);
  }
  return branch;
}

/** Whether there is nothing of a message yet, neither a word nor a file. */
export function isEmpty({ text, files }: Pick<Message, 'text' | 'files'>): boolean {
  return text === '' && files.length === 0;
}

/** Most bytes of files that a request carries; the server's own bound is a little higher. */
const MOST_BYTES = 12 << 20;

/**
 * A branch as it is sent: without the images that models made long ago, as a request carries all its files, and without what is empty
 * then.
 */
export function withoutOldImages(branch: readonly Message[], most: number = MOST_BYTES): readonly Message[] {
  const attached = branch.flatMap(({ role, files }) => (role === 'USER' ? files : []));
  let left = most - attached.reduce((sum, { bytes }) => sum + bytes, 0);
  const sent = branch.toReversed().map((message) => {
    if (message.role === 'USER') return message;
    return { ...message, files: message.files.filter(({ bytes }) => (left -= bytes) >= 0) };
  });
  return sent.toReversed().filter((message) => !isEmpty(message));
}

/** The branches at a message, in their order; it is one of them. */
export function branchesAt(messages: readonly Message[], { parentId, role }: Message): readonly Message[] {
  return messages.filter((one) => one.parentId === parentId && one.role === role);
}

/** The last message below one, by the newest branches. */
export function endBelow(messages: readonly Message[], id: string): string {
  const next = messages.findLast(({ parentId }) => parentId === id);
  return next === undefined || next.id === id ? id : endBelow(messages, next.id);
}

/** The messages with one added, or in the place of the one with its id. */
export function withMessage(messages: readonly Message[], message: Message): readonly Message[] {
  const isKnown = messages.some(({ id }) => id === message.id);
  return isKnown ? messages.map((one) => (one.id === message.id ? message : one)) : [...messages, message];
}

/** What a conversation is called until somebody names it: the beginning of its first question, whole words. */
export function makeTitle(text: string, other: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  if (line === '') return other;
  if (line.length <= MOST_TITLE) return line;
  const cut = line.slice(0, MOST_TITLE);
  const end = cut.lastIndexOf(' ');
  return `${end > MOST_TITLE / 2 ? cut.slice(0, end) : cut}…`;
}

interface Names {
  readonly USER: string;
  readonly ASSISTANT: string;
}

/** A branch as a Markdown file. */
export function writeMarkdown(title: string, branch: readonly Message[], names: Names): string {
  const parts = branch.map(({ role, text, files, model }) => {
    const who = role === 'ASSISTANT' && model !== null ? `${names.ASSISTANT} (${model})` : names[role];
    const links = files.map(({ url, contentType }) => `- [${contentType}](${url})`);
    return [
      `## ${who}`,
      ...(text === '' ? [] : [text]),
      ...(links.length === 0 ? [] : [links.join('\n')]),
    ].join('\n\n');
  });
  return `${[`# ${title}`, ...parts].join('\n\n')}\n`;
}

/** A file name of a title. */
export function toFileName(title: string): string {
  const name = title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '');
  return name === '' ? 'chat' : name.slice(0, MOST_TITLE);
}
