import { expect, it } from 'vitest';

import { file, form, json, linkOrFile, query } from '../route/params.ts';
import { unreadNames } from './parameter-reader.ts';

it('of a body the texts that no parameter takes are not read', () => {
  const params = {
    prompt: form.text(),
    seed: json.integer(),
    image: file({ optional: true }),
    source: linkOrFile({ optional: true }),
    page: query.integer({ optional: true }),
  };
  const names = ['prompt', 'seed', 'image', 'source', 'page', 'other'];
  expect(unreadNames(params, names)).toEqual(['image', 'page', 'other']);
});
