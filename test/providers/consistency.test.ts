import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { rows } from './contract/rows.ts';
import { findCapabilities, must, registeredNames } from './environment/environment.ts';

/** Every provider has the same shape, is in the registry, has a stand-in, a fixture with its sources, and a row. */

const folder = path.resolve(import.meta.dirname, '../../subgraphs/media/providers');
const standIns = path.resolve(import.meta.dirname, '../../sandbox/providers');
/** Rooms beside the providers: what a provider is, and what several of them use. */
const rooms = ['contract', 'shared'];
const folders = foldersIn(folder).filter((name) => !rooms.includes(name));
const names = registeredNames();

function foldersIn(where: string): string[] {
  return readdirSync(where, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

describe('the providers', () => {
  it('are what the registry has, under their own names', () => {
    // A second way to speak the OpenAI wire: its tests are beside its adapter.
    expect(names.toSorted()).toEqual([...folders, 'openai-compatible'].toSorted());
    expect(names.map((name) => findCapabilities(name)?.name)).toEqual(names);
  });

  it('each have a row in the contract suite, one for each of their APIs', () => {
    expect([...new Set(rows.map(({ provider }) => provider))].toSorted()).toEqual(folders.toSorted());
    const names = rows.map(({ provider, api }) => `${provider} ${api}`);
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(rows)('have a row that tries all that they can: $provider', ({ provider, jobs, short }) => {
    const { jobs: long = {}, calls = {}, chat } = must(findCapabilities(provider), provider);
    expect(jobs.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(long).toSorted());
    expect(short.length).toBeGreaterThanOrEqual(Object.keys(calls).length + (chat === undefined ? 0 : 1));
  });

  it('each have a stand-in', () => {
    expect(foldersIn(standIns)).toEqual(expect.arrayContaining(folders));
  });

  it.each(rows)('have fixtures that say where they were read: $provider', ({ fixture }) => {
    expect(fixture.sources.length).toBeGreaterThan(0);
    const file = { repository: /^[\w.-]+\/[\w.-]+$/, path: /./, commit: /^[0-9a-f]{40}$/, gives: /./ };
    const page = { page: /^https:/, gives: /./ };
    for (const source of fixture.sources) {
      const form = Object.entries('page' in source ? page : file);
      expect(source).toEqual(
        Object.fromEntries(form.map(([name, pattern]) => [name, expect.stringMatching(pattern)])),
      );
    }
  });

  it.each(folders)('have the same files: %s', (name) => {
    const files = readdirSync(path.join(folder, name)).filter((file) => /^[^.]+\.ts$/.test(file));
    expect(files).toEqual(expect.arrayContaining([`${name}.ts`, 'wire.ts']));
    const source = readFileSync(path.join(folder, name, `${name}.ts`), 'utf8');
    const factory = `create-${name}`.replaceAll(/-(\w)/g, (_, first: string) => first.toUpperCase());
    expect(source).toContain(`export function ${factory}(`);
    // Only through exchange.ts: that is where timeouts, limits, origins and credentials are kept.
    for (const file of files) {
      expect(readFileSync(path.join(folder, name, file), 'utf8')).not.toMatch(
        /\bfetch\(|from 'undici'|node:http/,
      );
    }
  });
});
