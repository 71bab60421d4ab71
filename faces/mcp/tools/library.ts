import { z } from 'zod';

import { MOST_COUNTED } from '../../../platform/graphql/schema/paging.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { McpMedias } from '../work/documents.ts';
import { linkTo } from '../work/results.ts';
import { LOOKS, type Tool, tool } from './tool.ts';

const MAX_FILES = 50;

/** What the caller has made and uploaded. */
export const libraryTools: readonly Tool[] = [
  tool({
    name: 'list_my_media',
    title: 'My files',
    description:
      'Your own files, results and uploads, newest first, as links. Other tools take their media ids.',
    rateClass: 'read',
    annotations: LOOKS,
    arguments: () => ({
      kind: z.enum(['IMAGE', 'VIDEO', 'AUDIO', 'OTHER']).optional().describe('Only these.'),
      text: z.string().optional().describe('Only those made from a prompt with this text.'),
      count: z.number().int().min(1).max(MAX_FILES).default(10).describe('How many.'),
      after: z.string().optional().describe('The cursor of an earlier answer.'),
    }),
    async run({ kind, text, count, after }, scope) {
      const filter = { text, ...(kind !== undefined && { kinds: [kind] }) };
      const { medias } = await runDocument(scope, McpMedias, { filter, first: count, after });
      const files = medias.edges.map(({ node }) => node);
      const next = medias.pageInfo.hasNextPage ? medias.pageInfo.endCursor : null;
      const more = next === null ? '' : `; more with after: ${next}`;
      const total = medias.totalCount > MOST_COUNTED ? `more than ${MOST_COUNTED}` : medias.totalCount;
      const summary = `${files.length} of ${total} file(s)${more}`;
      return {
        result: {
          content: [{ type: 'text', text: summary }, ...files.map(linkTo)],
          structuredContent: { media: files, total: medias.totalCount, after: next },
        },
      };
    },
  }),
];
