/** A path in quotes, which may contain spaces. */
const QUOTED = /(['"`])(?:[A-Za-z]:[\\/]|\\\\|\/)[^'"`\n]*\1/g;
/** A Windows path; folders, but not the last name, may contain spaces. */
const WINDOWS = /(?<!\w)(?:[A-Za-z]:[\\/]|\\\\)(?:[^\\/\n'"`:*?<>|]+[\\/])*[^\s\\/'"`,;:)\]]*/g;
/** A Unix path with up to two spaces in a folder's name; no part of a URL, a fraction or "and/or". */
const UNIX = /(?<![\w:/.<-])\/(?:[^\s/'"`,;:]+(?: [^\s/'"`,;:]+){0,2}\/)*[^\s/'"`,;:)\]]+/g;

/** A message of a machine without the paths of its files: they say where it is installed, and under whose name. */
export function withoutPaths(message: string): string {
  return message.replace(QUOTED, '[path]').replace(WINDOWS, '[path]').replace(UNIX, '[path]');
}
