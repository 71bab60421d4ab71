import path from 'node:path';

import type { z } from 'zod';

import { AppError } from '../errors.ts';
import { JsonSyntaxError, parseWithLines, type JsonWithLines } from './parse-with-lines.ts';

/** Files that operators write: every mistake is reported at once, each with its line, its field and the remedy. */

type Path = readonly (string | number)[];

/** Reports what is wrong at a path; the first mistake of a field counts. */
export type Report = (at: Path, message: string) => void;

/** A file that a setting names. */
interface CheckedFile {
  /** The setting, for the refusal. */
  readonly setting: string;
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** Reads its text (default: as JSON with comments). */
  readonly parse?: (text: string) => JsonWithLines;
}

/** Reads a file. Throws AppError NOT_CONFIGURED with every mistake that `read` reports. */
export function readCheckedFile<Value>(
  { setting, path: file, text, parse = parseWithLines }: CheckedFile,
  read: (json: JsonWithLines, report: Report) => Value,
): Value {
  const name = path.basename(file);
  let json: JsonWithLines;
  try {
    json = parse(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw createRefusal(setting, [`${name}, line ${error.line}: the file ${error.message}`]);
  }
  const problems: { readonly line: number; readonly text: string }[] = [];
  const reported = new Set<string>();
  const report: Report = (at, message) => {
    // One mistake per field: what follows from it (an empty address for an unset variable) is no news.
    if (reported.has(formatField(at))) return;
    reported.add(formatField(at));
    const line = json.findLine(at);
    problems.push({ line, text: `${name}, line ${line}: ${formatField(at)} ${message}` });
  };
  for (const at of json.repeated) report(at, 'comes twice: the second would silently win, remove one');
  const value = read(json, report);
  if (problems.length === 0) return value;
  const inOrder = problems.toSorted((one, other) => one.line - other.line);
  throw createRefusal(
    setting,
    inOrder.map((problem) => problem.text),
  );
}

/** Reports a mistake of a schema; `owner` is what has fields there, such as "a binding". */
export function reportIssue(issue: z.core.$ZodIssue, report: Report, owner: string): void {
  const at = issue.path.filter((part) => typeof part !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys)
      report([...at, key], `is no field of ${owner}: remove it, or correct its name`);
  } else if (issue.code === 'invalid_key') {
    for (const { message } of issue.issues) report(at, message);
  } else {
    report(at, issue.message);
  }
}

function createRefusal(setting: string, lines: readonly string[]): AppError {
  return new AppError(
    'NOT_CONFIGURED',
    `${setting} has mistakes\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );
}

/** A path as a person writes it: imga[0].headers.authorization. */
function formatField(at: Path): string {
  if (at.length === 0) return 'the file';
  return at
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}
