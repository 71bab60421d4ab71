import type { InputFieldBuilder } from '@pothos/core';

import type { builder } from './builder.ts';

type Types = (typeof builder)['$inferSchemaTypes'];

/** The member `options` of every input that starts work. */
export function vendorOptions(t: InputFieldBuilder<Types, 'InputObject'>) {
  return {
    options: t.field({
      type: 'JSON',
      description:
        'What the model takes besides, an object in the names of its vendor: see `optionsSchema` of `models`. Checked before anything is stored; an option that says what another member says too is refused.',
    }),
  };
}
