import type { FileUpload } from 'graphql-upload-minimal';

import { mayChange, type Caller } from '../../../platform/access/caller.ts';
import { badInput, type AppError } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/ids.ts';
import { wrongFormat, type FileKind, type InputRef } from '../domain/inputs/input-files.ts';
import type { FileService, StoredFile } from '../files/files.ts';
import type { ProviderResources } from '../files/provider-resources.ts';
import { storeUpload, type UploadDependencies } from '../uploads/store-upload.ts';
import type { MediaInput } from './submissions.ts';

/** An input as the task stores it, and its identity in fingerprints. */
export interface ResolvedInput {
  readonly ref: InputRef;
  readonly identity: { readonly sha256: string } | { readonly url: string };
  /** As measured; null for foreign addresses. */
  readonly contentType: string | null;
}

/** What resolving inputs needs. */
export interface InputDependencies extends UploadDependencies {
  /** Knows the addresses of our files in providers' storage. */
  readonly resources: Pick<ProviderResources, 'byUri'>;
}

/** An input with the name of its field, as the caller wrote it. */
interface NamedInput {
  readonly field: string;
  readonly input: MediaInput;
  /** What it must be; a foreign one is checked once the worker has fetched it. */
  readonly kind: FileKind;
}

/** Most files of one submission: each is looked up. */
const MAX_INPUTS = 100;

/**
 * Resolves the files of one submission, in order. Every input is checked before the first upload is read; then all
 * uploads are read at once, because on the wire they may come in any order. BAD_USER_INPUT for a file of the wrong kind.
 */
export async function resolveInputs(
  { files, resources, uploadMaxBytes, quotas }: InputDependencies,
  request: { readonly caller: Caller; readonly signal: AbortSignal; readonly inputs: readonly NamedInput[] },
): Promise<readonly ResolvedInput[]> {
  const { caller, signal, inputs } = request;
  const [tooMany] = inputs.slice(MAX_INPUTS);
  if (tooMany !== undefined) throw badInput(tooMany.field, `a request may have at most ${MAX_INPUTS} files`);
  const sources = await Promise.all(inputs.map((named) => findSource(named, { files, resources, caller })));
  const known = await knownFiles(files, sources);
  const opens = (file: StoredFile) => files.opens(caller, file);
  const resolved = await Promise.all(
    sources.map(async (source) => {
      if (source.kind === 'url') return foreign(source.url);
      if (source.kind === 'file') return toInput(findFile(source, known, opens));
      const storing = { temporary: true, signal };
      return toInput(await storeUpload({ files, uploadMaxBytes, quotas }, caller, source.upload, storing));
    }),
  );
  for (const [index, file] of resolved.entries()) checkKind(inputs[index], file);
  return resolved;
}

function checkKind(named: NamedInput | undefined, { contentType }: ResolvedInput): void {
  if (named === undefined || contentType === null) return;
  const wrong = wrongFormat(named.kind, contentType);
  if (wrong !== null) throw badInput(named.field, `${named.field}: ${wrong}`);
}

type Source =
  | { readonly kind: 'url'; readonly url: string }
  /** `isShown`: the caller has its address, or its URI in a provider's storage, and not the bare id alone. */
  | { readonly kind: 'file'; readonly id: string; readonly field: string; readonly isShown: boolean }
  | { readonly kind: 'upload'; readonly upload: Promise<FileUpload> };

type Finders = Pick<InputDependencies, 'files' | 'resources'> & { readonly caller: Caller };

/** Which of the three ways it is. BAD_USER_INPUT when it is none or several, or a malformed address. */
async function findSource({ field, input }: NamedInput, finders: Finders): Promise<Source> {
  const { url = null, upload = null, fileId = null } = input;
  if ([url, upload, fileId].filter((member) => member !== null).length !== 1) {
    throw badInput(field, `${field} takes exactly one of url, upload and fileId`);
  }
  if (upload !== null) return { kind: 'upload', upload };
  if (fileId !== null) return { kind: 'file', id: fileId, field: `${field}.fileId`, isShown: false };
  return sourceOfUrl(String(url), `${field}.url`, finders);
}

/**
 * Our own addresses, and those of our files in a provider's storage, are read from the object store, never fetched;
 * others must be http or https without a user name.
 */
async function sourceOfUrl(
  url: string,
  field: string,
  { files, resources, caller }: Finders,
): Promise<Source> {
  if (url.length > 4096) throw badInput(field, `${field} may have at most 4096 characters`);
  const id = files.idOfUrl(url);
  if (id !== null) return { kind: 'file', id, field, isShown: true };
  const resource = await resources.byUri(url);
  if (resource !== null) {
    if (!mayChange(caller, resource.owner)) throw notThere(field);
    return { kind: 'file', id: resource.mediaId, field, isShown: true };
  }
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    throw badInput(field, `${field} must be an http or https address`);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw badInput(field, `${field} must not carry a user name or password`);
  }
  return { kind: 'url', url: parsed.href };
}

async function knownFiles(
  files: FileService,
  sources: readonly Source[],
): Promise<ReadonlyMap<string, StoredFile>> {
  const ids = sources.flatMap((source) => (source.kind === 'file' && isUuid(source.id) ? [source.id] : []));
  const found = ids.length === 0 ? [] : await files.byIds([...new Set(ids)]);
  return new Map(found.flatMap((file) => (file === null ? [] : [[file.id.toLowerCase(), file]])));
}

function findFile(
  { id, field, isShown }: Extract<Source, { kind: 'file' }>,
  known: ReadonlyMap<string, StoredFile>,
  opens: (file: StoredFile) => boolean,
): StoredFile {
  const file = known.get(id.toLowerCase());
  if (file === undefined || !(isShown || opens(file))) throw notThere(field);
  return file;
}

function notThere(field: string): AppError {
  return badInput(field, `${field} names a file that does not exist (any more)`);
}

function toInput({ id, sha256, contentType }: StoredFile): ResolvedInput {
  return { ref: { fileId: id }, identity: { sha256 }, contentType };
}

function foreign(url: string): ResolvedInput {
  return { ref: { url }, identity: { url }, contentType: null };
}
