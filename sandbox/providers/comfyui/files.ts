import { createHash } from 'node:crypto';

import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';

/** A machine's input, output and temp folders, stored in the journal's folder. */
export interface Files {
  /** A file's name in the journal. */
  keptName(place: FilePlace): string;
  read(place: FilePlace): Promise<Buffer | null>;
  /** Stores an uploaded file; without `overwrite` a second file of the same name gets a number. */
  upload(file: FilePlace & { readonly bytes: Buffer; readonly overwrite: boolean }): Promise<FilePlace>;
}

/** The location of a file, in ComfyUI's terms. */
export interface FilePlace {
  readonly filename: string;
  readonly subfolder: string;
  /** input, output or temp. */
  readonly type: string;
}

const MAX_NUMBER = 1_000;

/** Creates the folders of one machine. */
export function createFiles(machine: string, journal: Journal): Files {
  const keptName = ({ filename, subfolder, type }: FilePlace) => {
    const hash = createHash('sha256')
      .update(JSON.stringify([type, subfolder, filename]))
      .digest('hex');
    return `${machine}-${hash.slice(0, 32)}`;
  };
  const read = (place: FilePlace) => journal.readImage(keptName(place));
  return {
    keptName,
    read,
    async upload({ bytes, overwrite, ...wanted }) {
      for (let number = 0; number < MAX_NUMBER; number += 1) {
        const place = { ...wanted, filename: numbered(wanted.filename, number) };
        const there = overwrite ? null : await read(place);
        if (there?.equals(bytes) === true) return place;
        if (there !== null) continue;
        await journal.writeImage(keptName(place), bytes);
        return place;
      }
      throw new Error(`too many files are called ${wanted.filename}`);
    },
  };
}

function numbered(filename: string, number: number): string {
  if (number === 0) return filename;
  const dot = filename.lastIndexOf('.');
  const [stem, ending] = dot < 1 ? [filename, ''] : [filename.slice(0, dot), filename.slice(dot)];
  return `${stem} (${number})${ending}`;
}

/** Parses a graph's file name: `subfolder/name`, with `[output]` behind it when it is not an input. */
export function parsePlace(name: string): FilePlace {
  const [, path = name, type = 'input'] = /^(.*?)(?: \[(input|output|temp)\])?$/.exec(name) ?? [];
  const slash = path.lastIndexOf('/');
  return { filename: path.slice(slash + 1), subfolder: slash === -1 ? '' : path.slice(0, slash), type };
}

/** The context of one machine's handlers. */
export interface ComfyuiContext {
  readonly runner: JobRunner;
  readonly files: Files;
  /** Node classes and model files that are not installed. */
  readonly lacking: () => ReadonlySet<string>;
}
