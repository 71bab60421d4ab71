import { AppError, type AppErrorCode } from '../../platform/errors.ts';
import type { Problem } from '../replies/envelopes.ts';
import { listNames, type Param, type UploadedFile } from '../route/param.ts';
import type { Route } from '../route/route.ts';
import type { IncomingFile } from './body/file-part.ts';
import type { FormBody, FormOptions, StoredPart } from './body/form.ts';
import type { ParameterReader } from './parameter-reader.ts';

/** File parts of forms: which are stored, and which parameter each belongs to. */

/** Stores one file part as it arrives; `param` is the parameter whose rules apply to it. */
export type StoreFile = (file: IncomingFile, param: Param<unknown>) => Promise<UploadedFile>;

type FileParams = readonly (readonly [string, Param<unknown>])[];

/** Errors about a single file. The rest of the form is read all the same, as problems with the request are reported first. */
const refusals: ReadonlySet<AppErrorCode> = new Set(['BAD_USER_INPUT', 'NOT_CONFIGURED']);

/** Stores the file parts of a form, unless the request is known to be invalid by then. */
export function createPartStorage(
  { route, store }: { readonly route: Route; readonly store: StoreFile },
  fileParams: FileParams,
  /** Of the whole request, as far as it was read. */
  problems: Problem[],
) {
  const [first] = fileParams;
  let earlier: Problem | undefined;
  let refused: AppError | undefined;
  const storePart: NonNullable<FormOptions['store']> = async (file, before) => {
    earlier ??= problemIn(route, before);
    if (first === undefined || earlier !== undefined) return null;
    try {
      const param = fileParams.find(([name]) => listNames(route.params, name).includes(file.field)) ?? first;
      return await store(file, param[1]);
    } catch (error) {
      if (!(error instanceof AppError) || !refusals.has(error.code)) throw error;
      refused ??= withPartName(error, file.field);
      return null;
    }
  };
  return {
    /** Null when no part is stored: the request is invalid already, or the operation has no files. */
    store: first === undefined || problems.length > 0 ? null : storePart,
    /** Throws what a part was refused for, once the whole form is read and nothing else is wrong with it. */
    throwRefusal(): void {
      if (problems.length > 0) return;
      // The field that kept a part from being stored came again with a valid value.
      if (earlier !== undefined) problems.push(earlier);
      else if (refused !== undefined) throw refused;
    },
  };
}

/** An error about the file of an upload, with the name of the part that was sent. */
function withPartName(error: AppError, part: string): AppError {
  const { code, field, message } = error;
  if (field !== 'file' || !message.startsWith('file ')) return error;
  return new AppError(code, `${part}${message.slice(field.length)}`, { field: part, cause: error });
}

/** The first problem with the text fields that have arrived so far. */
function problemIn({ params }: Route, fields: ReadonlyMap<string, string>): Problem | undefined {
  for (const [name, param] of Object.entries(params)) {
    const key =
      param.in === 'form' ? listNames(params, name).find((candidate) => fields.has(candidate)) : undefined;
    const raw = key === undefined ? '' : fields.get(key);
    const reading = raw === '' ? null : param.read(raw);
    if (reading !== null && 'problem' in reading) return { loc: ['body', name], ...reading.problem };
  }
  return undefined;
}

/**
 * Assigns each file parameter its part: the one with the documented name or an alias; for an operation's only file parameter
 * also one named `file`, or the only part there is.
 */
export function assignParts({ params }: Route, body: FormBody, reader: ParameterReader): void {
  const fileParams = Object.entries(params).filter(([, param]) => param.in === 'file');
  const received = [...body.fields.keys(), ...body.files.map((part) => part.field)];
  for (const [name, param] of fileParams) {
    const names = listNames(params, name);
    const part = partFor(names, fileParams.length === 1, body.files);
    if (part !== undefined) {
      reader.conflicts.push(...differingParts(part, names, body.files));
      reader.add(name, param, part.file);
    } else if (param.type === 'link-or-file' && names.some((alias) => body.fields.has(alias))) {
      reader.addOneOf(name, param, { names, raws: body.fields });
    } else if (body.fields.has(name)) {
      const msg = 'Value error, expected a file part, received text';
      reader.problems.push({ loc: ['body', name], msg, type: 'value_error' });
    } else {
      reader.absent(name, param, received);
    }
  }
}

function partFor(
  names: readonly string[],
  isOnlyParam: boolean,
  files: readonly StoredPart[],
): StoredPart | undefined {
  for (const name of names) {
    const part = files.findLast(({ field }) => field === name);
    if (part !== undefined) return part;
  }
  if (!isOnlyParam) return undefined;
  return files.findLast(({ field }) => field === 'file') ?? (files.length === 1 ? files[0] : undefined);
}

/** Other names of one parameter under which another file came, in words. */
function differingParts(
  { field, file }: StoredPart,
  names: readonly string[],
  files: readonly StoredPart[],
): readonly string[] {
  const other = files.find(
    (part) =>
      part.field !== field &&
      names.includes(part.field) &&
      part.file !== null &&
      part.file.sha256 !== file?.sha256,
  );
  return other === undefined ? [] : [`${field} and ${other.field} are the same and differ: send one of them`];
}
