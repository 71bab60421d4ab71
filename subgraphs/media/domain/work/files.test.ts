import { expect, test } from 'vitest';

import { joinWork, listWorkFiles, placeFiles, splitWork } from './files.ts';
import type { StepInput } from './work.ts';

/** What stands for a file here. */
type Name = string;

const face = { kind: 'LIP_SYNC', generator: 'a', image: 'face', audio: 'sound', prompt: 'nod' } as const;
const edited: StepInput<Name> = { kind: 'IMAGE', generator: 'a', prompt: 'a cat', images: ['one', 'two'] };
const graph: StepInput<Name> = {
  kind: 'COMFY_WORKFLOW',
  generator: 'comfyui',
  workflow: {},
  files: { '3.image': 'cat', '7.image': 'dog' },
};

test('work is taken apart into its files, in order, and its other inputs', () => {
  expect(splitWork<Name>(face)).toEqual({
    kind: 'LIP_SYNC',
    inputs: { generator: 'a', prompt: 'nod' },
    empty: {},
    files: [
      { file: 'face', kind: 'imageOrVideo', input: 'image', field: 'image' },
      { file: 'sound', kind: 'audio', input: 'audio', field: 'audio' },
    ],
  });
  expect(listWorkFiles(edited).map(({ file, key }) => [file, key])).toEqual([
    ['one', 0],
    ['two', 1],
  ]);
  expect(listWorkFiles(graph).map(({ file, key }) => [file, key])).toEqual([
    ['cat', '3.image'],
    ['dog', '7.image'],
  ]);
});

test('a list and names without a file stay what they are, and are no other inputs', () => {
  for (const work of [
    { ...edited, images: [] },
    { ...graph, files: {} },
  ]) {
    const { files, inputs } = splitWork<Name>(work);
    expect([files, 'images' in inputs, 'files' in inputs]).toEqual([[], false, false]);
    expect(joinWork(splitWork<Name>(work))).toEqual(work);
  }
});

test('work that is put together is what was taken apart, with the files that are placed', () => {
  for (const work of [face, edited, graph] as const) {
    const parts = splitWork<Name>(work);
    expect(joinWork(parts)).toEqual(work);
    const lengths = parts.files.map(({ file }) => file.length);
    const others = joinWork({ ...parts, files: placeFiles(parts.files, lengths) });
    expect(listWorkFiles(others).map(({ file }) => file)).toEqual(lengths);
  }
  const { files } = splitWork<Name>(edited);
  expect(joinWork({ ...splitWork<Name>(edited), files: placeFiles(files, ['x', 'y']) })).toMatchObject({
    images: ['x', 'y'],
  });
});
