import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Area } from './rooms.ts';

/** One file that imports another; both relative to the checkout. Type imports count. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
}

/** Tests and what only they use: it may import everything, and the product never imports it. */
export function isTestSupport(file: string): boolean {
  return /^(test|tools)\/|\.(test|fixture|contract)\.tsx?$|\/(testing|fixtures)\/|\/test-kit\.ts$/.test(file);
}

/** The TypeScript files of the areas. */
export function readFiles(root: string, areas: readonly string[]): readonly string[] {
  return areas
    .flatMap((area) => globSync(`${area}/**/*.{ts,tsx}`, { cwd: root }))
    .filter((file) => !file.includes('node_modules/'));
}

/** What the files import of each other. */
export function readArrows(root: string, files: readonly string[]): readonly Arrow[] {
  return files.flatMap((file) => {
    const source = readFileSync(path.join(root, file), 'utf8');
    return [...source.matchAll(/(?:from|import\(|import)\s*'(\.[^']+)'/g)].map((match) => ({
      from: file,
      to: path.posix.join(path.posix.dirname(file), match[1] ?? ''),
    }));
  });
}

/** Arrows that the table does not list, as `file -> file`. */
export function unlistedArrows(
  arrows: readonly Arrow[],
  areas: Readonly<Record<string, Area>>,
): readonly string[] {
  return arrows.filter((arrow) => !isListed(arrow, areas)).map(({ from, to }) => `${from} -> ${to}`);
}

function isListed({ from, to }: Arrow, areas: Readonly<Record<string, Area>>): boolean {
  const [source, target] = [findArea(from, areas), findArea(to, areas)];
  // Files beside the areas, such as package.json.
  if (target === undefined) return true;
  if (source === undefined) return false;
  if (source !== target) return areas[source]?.areas.includes(target) ?? false;
  const rooms = areas[source]?.rooms ?? {};
  const [home, room] = [findRoom(from, source, rooms), findRoom(to, source, rooms)];
  if (home === undefined || room === undefined) return false;
  if (home.folder === room.folder) return true;
  const allowed = rooms[home.line] ?? [];
  return allowed.includes('**') || allowed.includes(room.line);
}

/** The area of a file. */
export function findArea(file: string, areas: Readonly<Record<string, Area>>): string | undefined {
  return Object.keys(areas).find((area) => file.startsWith(`${area}/`));
}

/** The deepest listed folder above a file, with the line of the table that lists it. */
function findRoom(
  file: string,
  area: string,
  rooms: Area['rooms'],
): { readonly folder: string; readonly line: string } | undefined {
  const parts = path.posix
    .dirname(file)
    .slice(area.length + 1)
    .split('/')
    .filter(Boolean);
  if (parts.length === 0) return { folder: '.', line: '.' };
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const folder = parts.slice(0, depth).join('/');
    const each = [...parts.slice(0, depth - 1), '*'].join('/');
    const line = [folder, each].find((name) => name in rooms);
    if (line !== undefined) return { folder, line };
  }
  return undefined;
}

/** Groups of nodes that reach each other (Tarjan's algorithm). */
export function circles(arrows: readonly Arrow[]): readonly (readonly string[])[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of arrows) {
    if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const lower = (node: string, value: number): void =>
    void low.set(node, Math.min(low.get(node) ?? value, value));
  const visit = (node: string): void => {
    const own = index.size;
    index.set(node, own);
    lower(node, own);
    stack.push(node);
    for (const target of next.get(node) ?? []) {
      if (!index.has(target)) visit(target);
      if (stack.includes(target)) lower(node, low.get(target) ?? own);
    }
    if (low.get(node) !== own) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) found.push(group.toSorted());
  };
  for (const node of next.keys()) if (!index.has(node)) visit(node);
  return found;
}

/** The same arrows between folders. */
export function betweenFolders(arrows: readonly Arrow[]): readonly Arrow[] {
  return arrows.map(({ from, to }) => ({ from: path.posix.dirname(from), to: path.posix.dirname(to) }));
}

/** Folders with more than `most` files, as `folder: count`. */
export function crowdedFolders(files: readonly string[], most: number): readonly string[] {
  const counts = Map.groupBy(files, (file) => path.posix.dirname(file));
  return [...counts]
    .filter(([, { length }]) => length > most)
    .map(([folder, { length }]) => `${folder}: ${length}`);
}
