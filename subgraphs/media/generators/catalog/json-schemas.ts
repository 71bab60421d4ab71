import { z } from 'zod';

import { optionsShape } from '../../domain/inputs/vendor-options/schema.ts';
import { catalogEntry, catalogPage } from './entry.ts';

/** The JSON Schemas of the catalog's files, for editors: `npm run schema` writes them. */

/** With the options by their shape alone: their bounds can't be said in JSON Schema. */
const model = catalogEntry.extend({ options: z.union([optionsShape, z.string()]).nullable().default(null) });

/** That of models/*.json. */
export function catalogPageSchema(): object {
  return z.toJSONSchema(catalogPage.extend({ models: z.array(model) }), { io: 'input' });
}

/** That of CATALOG_FILE, whose models name but what they change. */
export function catalogFileSchema(): object {
  const models = z.array(model.partial().required({ id: true }));
  const file = z.looseObject({ $schema: z.string().optional() }).catchall(models);
  return z.toJSONSchema(file, { io: 'input' });
}
