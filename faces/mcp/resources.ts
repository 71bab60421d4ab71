import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from '@modelcontextprotocol/server';

import { AppError } from '../../platform/errors.ts';
import { withFieldName } from '../../rest-compat/replies/field-names.ts';
import { type Execution, runDocument } from '../../rest-compat/replies/results.ts';
import { readMediaId } from './tools/arguments.ts';
import { McpMediaById, McpMedias } from './work/documents.ts';
import { toFacts, type ReadFile } from './work/results.ts';
import { readTask } from './work/tasks.ts';

/** Tasks and files as resources. */

/** Largest file that is read through the protocol; of a larger one its preview and its address are. */
const MAX_FILE_BYTES = 256 * 1024;
const PAGE = 50;

/** What can be read by an id. */
export const resourceTemplates = [
  {
    uriTemplate: 'kiln://tasks/{task_id}',
    name: 'task',
    title: 'A task',
    description: 'How far it is, what it made, what it cost.',
    mimeType: 'application/json',
  },
  {
    uriTemplate: 'kiln://media/{media_id}',
    name: 'media',
    title: 'A file',
    description: 'Its facts and address; small files whole, of others a preview.',
  },
];

/** The caller's newest files. BAD_USER_INPUT for a cursor that is none. */
export async function listResources(execution: Execution, cursor: string | undefined) {
  const page = { filter: {}, first: PAGE, after: cursor };
  const { medias } = await runDocument(execution, McpMedias, page).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.field !== 'after') throw error;
    throw withFieldName(error, 'cursor');
  });
  const resources = medias.edges.map(({ node: { id, name, contentType, bytes } }) => ({
    uri: `kiln://media/${id}`,
    name,
    mimeType: contentType,
    size: bytes,
  }));
  const next = medias.pageInfo.hasNextPage ? medias.pageInfo.endCursor : null;
  return { resources, ...(next !== null && { nextCursor: next }) };
}

/** Reads a task or a file: by its URI here, or the address in a link of a result. */
export async function readResource(
  execution: Execution,
  uri: string,
  readFile: ReadFile,
): Promise<ReadResourceResult> {
  const taskId = /^kiln:\/\/tasks\/([\w-]{1,64})$/.exec(uri)?.[1];
  if (taskId !== undefined) return { contents: [await readTaskResource(execution, taskId, uri)] };
  const mediaId = readMediaId(uri) ?? /\/files\/([0-9a-f-]{36})\//.exec(uri)?.[1];
  if (mediaId === undefined) throw notFound(uri);
  return { contents: await readMedia(execution, { id: mediaId, uri, readFile }) };
}

type Contents = ReadResourceResult['contents'];

async function readTaskResource(execution: Execution, id: string, uri: string): Promise<Contents[number]> {
  try {
    const text = JSON.stringify(toFacts(await readTask(execution, id)));
    return { uri, mimeType: 'application/json', text };
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') throw notFound(uri);
    throw error;
  }
}

async function readMedia(
  execution: Execution,
  { id, uri, readFile }: { readonly id: string; readonly uri: string; readonly readFile: ReadFile },
): Promise<Contents> {
  const { media } = await runDocument(execution, McpMediaById, { id });
  // An address of somewhere else is not read, whatever its path looks like.
  if (media === null || (!uri.startsWith('kiln:') && !isAddressOf(media.url, uri))) throw notFound(uri);
  const { url, thumbnail, bytes, ...facts } = media;
  const text = JSON.stringify({ ...facts, bytes, url });
  const address = bytes <= MAX_FILE_BYTES ? url : thumbnail;
  const file = address === null ? null : await readFile(address, MAX_FILE_BYTES);
  const described = { uri, mimeType: 'application/json', text };
  if (file === null) return [described];
  return [{ uri, mimeType: file.contentType, blob: file.bytes.toString('base64') }, described];
}

/** Also one that was given earlier: how long it is valid stands in its query (FILES_URL_TTL). */
function isAddressOf(url: string, uri: string): boolean {
  return uri.split('?', 1)[0] === url.split('?', 1)[0];
}

function notFound(uri: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such resource', { uri });
}
