/** The files of a WASI program: one folder in memory, and the calls that read and write it. */

/** A file in memory; `data` may be longer than what was written. */
export interface MemoryFile {
  data: Uint8Array;
  length: number;
}

interface OpenFile {
  readonly file: MemoryFile;
  position: number;
}

/** Functions that a program calls; each gives a WASI error number. Offsets and times come as bigint, the rest as numbers. */
export type SystemCalls = Readonly<Record<string, (...values: number[]) => number>>;

/** The program's memory; it moves when it grows, so views are made anew each time. */
export interface Machine {
  memory: { readonly buffer: ArrayBuffer };
  view(): DataView;
  bytes(): Uint8Array;
}

/** WASI's word for a call that went well. */
export const SUCCESS = 0;
const [BAD_DESCRIPTOR, TOO_LARGE, NO_ENTRY] = [8, 22, 44] as const;
const FOLDER = '/o';
/** The folder's descriptor; files come after it. */
const FOLDER_DESCRIPTOR = 3;
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** A machine without memory: the program brings its own. */
export function createMachine(): Machine {
  return {
    memory: { buffer: new ArrayBuffer(0) },
    view() {
      return new DataView(this.memory.buffer);
    },
    bytes() {
      return new Uint8Array(this.memory.buffer);
    },
  };
}

/** What a program writes to its standard output and error goes to `output`. */
export function createFileCalls(
  machine: Machine,
  files: Map<string, MemoryFile>,
  output: string[],
): SystemCalls {
  const open = new Map<number, OpenFile>();
  return {
    ...folderCalls(machine),
    ...openCalls(machine, files, open),
    ...dataCalls(machine, open, output),
  };
}

function folderCalls(machine: Machine): SystemCalls {
  return {
    fd_fdstat_set_flags: () => SUCCESS,
    fd_fdstat_get: (descriptor = 0, at = 0) => describeDescriptor(machine, descriptor, at),
    fd_prestat_get(descriptor = 0, at = 0) {
      if (descriptor !== FOLDER_DESCRIPTOR) return BAD_DESCRIPTOR;
      machine.view().setUint32(at, 0, true);
      machine.view().setUint32(at + 4, FOLDER.length, true);
      return SUCCESS;
    },
    fd_prestat_dir_name(_descriptor = 0, at = 0) {
      machine.bytes().set(new TextEncoder().encode(FOLDER), at);
      return SUCCESS;
    },
  };
}

function openCalls(
  machine: Machine,
  files: Map<string, MemoryFile>,
  open: Map<number, OpenFile>,
): SystemCalls {
  let nextDescriptor = FOLDER_DESCRIPTOR + 1;
  return {
    fd_close(descriptor = 0) {
      open.delete(descriptor);
      return SUCCESS;
    },
    path_open(...values) {
      const [, , nameAt = 0, nameBytes = 0, flags = 0] = values;
      const name = new TextDecoder().decode(machine.bytes().slice(nameAt, nameAt + nameBytes));
      const file = openFile(files, name, flags);
      if (file === null) return NO_ENTRY;
      open.set(nextDescriptor, { file, position: 0 });
      machine.view().setUint32(values[8] ?? 0, nextDescriptor, true);
      nextDescriptor += 1;
      return SUCCESS;
    },
    fd_seek(descriptor = 0, offset = 0, whence = 0, positionAt = 0) {
      const handle = open.get(descriptor);
      if (handle === undefined) return BAD_DESCRIPTOR;
      const base = [0, handle.position, handle.file.length][whence] ?? 0;
      handle.position = asNumber(offset) + base;
      machine.view().setBigUint64(positionAt, BigInt(handle.position), true);
      return SUCCESS;
    },
  };
}

function asNumber(value: number | bigint): number {
  return Number(value);
}

function dataCalls(machine: Machine, open: ReadonlyMap<number, OpenFile>, output: string[]): SystemCalls {
  return {
    fd_read(descriptor = 0, vectorsAt = 0, vectors = 0, countAt = 0) {
      const handle = open.get(descriptor);
      let total = 0;
      for (const { at, length } of vectorsOf(machine, vectorsAt, vectors)) {
        if (handle !== undefined) total += read(machine, handle, { at, length });
      }
      machine.view().setUint32(countAt, total, true);
      return SUCCESS;
    },
    fd_write(descriptor = 0, vectorsAt = 0, vectors = 0, countAt = 0) {
      const handle = open.get(descriptor);
      let total = 0;
      for (const { at, length } of vectorsOf(machine, vectorsAt, vectors)) {
        const piece = machine.bytes().slice(at, at + length);
        if (descriptor < FOLDER_DESCRIPTOR) output.push(new TextDecoder().decode(piece));
        else if (handle === undefined) return BAD_DESCRIPTOR;
        else if (!write(handle, piece)) return TOO_LARGE;
        total += length;
      }
      machine.view().setUint32(countAt, total, true);
      return SUCCESS;
    },
  };
}

const [CHARACTER_DEVICE, DIRECTORY, REGULAR_FILE] = [2, 3, 4] as const;

/** What kind of thing a descriptor is; everything is allowed with it. */
function describeDescriptor(machine: Machine, descriptor: number, at: number): number {
  const plain = descriptor < FOLDER_DESCRIPTOR ? CHARACTER_DEVICE : REGULAR_FILE;
  machine.bytes().fill(0, at, at + 24);
  machine.view().setUint8(at, descriptor === FOLDER_DESCRIPTOR ? DIRECTORY : plain);
  machine.view().setBigUint64(at + 8, 0xffff_ffffn, true);
  machine.view().setBigUint64(at + 16, 0xffff_ffffn, true);
  return SUCCESS;
}

const [CREATE, TRUNCATE] = [1, 8] as const;

function openFile(files: Map<string, MemoryFile>, name: string, flags: number): MemoryFile | null {
  const known = files.get(name);
  if (known !== undefined) {
    if ((flags & TRUNCATE) !== 0) known.length = 0;
    return known;
  }
  if ((flags & CREATE) === 0) return null;
  const file = { data: new Uint8Array(65_536), length: 0 };
  files.set(name, file);
  return file;
}

function* vectorsOf(
  machine: Machine,
  vectorsAt: number,
  vectors: number,
): Generator<{ at: number; length: number }> {
  for (let index = 0; index < vectors; index += 1) {
    const view = machine.view();
    yield {
      at: view.getUint32(vectorsAt + 8 * index, true),
      length: view.getUint32(vectorsAt + 8 * index + 4, true),
    };
  }
}

function read(machine: Machine, handle: OpenFile, into: { at: number; length: number }): number {
  const end = Math.min(handle.file.length, handle.position + into.length);
  const piece = handle.file.data.subarray(handle.position, Math.max(handle.position, end));
  machine.bytes().set(piece, into.at);
  handle.position += piece.length;
  return piece.length;
}

/** False when the file would become too large. */
function write(handle: OpenFile, piece: Uint8Array): boolean {
  const { file, position } = handle;
  const end = position + piece.length;
  if (end > MAX_FILE_BYTES) return false;
  if (end > file.data.length) {
    const larger = new Uint8Array(Math.max(end, file.data.length * 2));
    larger.set(file.data.subarray(0, file.length));
    file.data = larger;
  }
  file.data.set(piece, position);
  file.length = Math.max(file.length, end);
  handle.position = end;
  return true;
}
