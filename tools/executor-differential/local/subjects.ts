import { buildSubgraphSchema } from '@apollo/subgraph';

import { mediaSchema } from '../../../subgraphs/media/schema/index.ts';
import { workflowSchema } from '../../../subgraphs/workflow/schema/index.ts';
import { federatedSources } from '../schemas/index.ts';
import { parseTypeDefs } from '../subgraph-schema.ts';
import { createLocalSubject, type LocalSubject } from './local-campaign.ts';

/** Kiln's two subgraphs as they are built, and every subgraph of the differential test. */
export function localSubjects(): readonly LocalSubject[] {
  const others = federatedSources
    .filter(({ name }) => name !== 'kiln')
    .flatMap(({ name, subgraphs }) =>
      Object.entries(subgraphs).map(([subgraph, sdl]) =>
        createLocalSubject(`${name}: ${subgraph}`, buildSubgraphSchema({ typeDefs: parseTypeDefs(sdl) })),
      ),
    );
  const kiln = [createLocalSubject('media', mediaSchema), createLocalSubject('workflow', workflowSchema)];
  // Kiln's own as often as all others together.
  return others.flatMap((other, index) => [other, kiln[index % kiln.length] ?? other]);
}
