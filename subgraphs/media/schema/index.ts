/** The media subgraph's schema. Every file of this folder is listed here (a test holds it); each adds its types to the builder. */
import './media.ts';
import './video-template.ts';
import './attempt.ts';
import './task.ts';
import './task-words.ts';
import './voice.ts';
import './token-usage.ts';
import './task-result.ts';
import './task-input.ts';
import './cost.ts';
import './usage.ts';
import './budget.ts';
import './media-fields.ts';
import './share.ts';
import './board.ts';
import './task-fields.ts';
import './bulk-operation.ts';
import './personal-data.ts';
import './start-mutation.ts';
import './image.ts';
import './video.ts';
import './speech.ts';
import './people.ts';
import './analysis.ts';
import './provider-resource.ts';
import './chat-input.ts';
import './chat.ts';
import './conversation.ts';
import './comfy-workflow.ts';
import './saved-workflow.ts';
import './saved-workflow-fields.ts';
import './running-node.ts';
import './prompt-check.ts';
import './recipe.ts';
import './webhook-delivery.ts';
import './webhook-endpoint.ts';
import './model.ts';
import './health.ts';
import './provider-health.ts';
import './comfy-machine.ts';
import { enforceEntityRules, subgraphSchema } from '../../../platform/graphql/schema/subgraph-schema.ts';
import { builder } from './builder.ts';

export { createMediaContext, type MediaContext, type MediaHealth, type MediaServices } from './context.ts';

/** Built without any dependency: what the resolvers call comes with the context. */
export const mediaSchema = enforceEntityRules(subgraphSchema(builder), {
  Task: 'anyone',
  Media: 'anyone',
  VideoTemplate: 'public',
});
