import type { MigrationSet } from '../../../../platform/database/migrations.ts';
import { tasks } from './0001-tasks.ts';
import { files } from './0002-files.ts';
import { videoTemplates } from './0003-video-templates.ts';
import { providerResources } from './0004-provider-resources.ts';
import { chat } from './0005-chat.ts';
import { watchers } from './0006-watchers.ts';
import { webhookDeliveries } from './0007-webhook-deliveries.ts';
import { waitingSince } from './0008-waiting-since.ts';
import { listsOfOwners } from './0009-lists-of-owners.ts';
import { manageTokens } from './0010-manage-tokens.ts';
import { madeResources } from './0011-made-resources.ts';
import { costs } from './0012-costs.ts';
import { endedAttempts } from './0013-ended-attempts.ts';
import { uploadQuotas } from './0014-upload-quotas.ts';
import { uploadReservations } from './0015-upload-reservations.ts';
import { pendingWebhooks } from './0016-pending-webhooks.ts';
import { budgets } from './0017-budgets.ts';
import { chatToolCalls } from './0018-chat-tool-calls.ts';
import { traces } from './0019-traces.ts';
import { webhookEndpoints } from './0020-webhook-endpoints.ts';
import { pausedBindings } from './0021-paused-bindings.ts';
import { soldTasks } from './0022-sold-tasks.ts';
import { roomOfBindings } from './0023-room-of-bindings.ts';
import { unlistedFiles } from './0024-unlisted-files.ts';
import { upstreamsOfAttempts } from './0025-upstreams-of-attempts.ts';
import { shares } from './0026-shares.ts';
import { erasures } from './0027-erasures.ts';
import { retentionMarks } from './0028-retention-marks.ts';
import { namesOfBindings } from './0029-names-of-bindings.ts';
import { handlesOfAttempts } from './0031-handles-of-attempts.ts';
import { modelWarnings } from './0033-model-warnings.ts';
import { fetchedModels } from './0034-fetched-models.ts';
import { savedWorkflows } from './0035-saved-workflows.ts';
import { closedMachines } from './0036-closed-machines.ts';
import { conversations } from './0037-conversations.ts';
import { leftReplies } from './0039-left-replies.ts';
import { boards } from './0041-boards.ts';
import { bulkOperations } from './0044-bulk-operations.ts';
import { blake3 } from './0045-blake3.ts';
import { replyImages } from './0046-reply-images.ts';

/** Every migration of the "media" schema, in order of name. A static map, so nothing is scanned at start. */
export const mediaMigrations: MigrationSet = {
  schema: 'media',
  migrations: {
    '0001-tasks': tasks,
    '0002-files': files,
    '0003-video-templates': videoTemplates,
    '0004-provider-resources': providerResources,
    '0005-chat': chat,
    '0006-watchers': watchers,
    '0007-webhook-deliveries': webhookDeliveries,
    '0008-waiting-since': waitingSince,
    '0009-lists-of-owners': listsOfOwners,
    '0010-manage-tokens': manageTokens,
    '0011-made-resources': madeResources,
    '0012-costs': costs,
    '0013-ended-attempts': endedAttempts,
    '0014-upload-quotas': uploadQuotas,
    '0015-upload-reservations': uploadReservations,
    '0016-pending-webhooks': pendingWebhooks,
    '0017-budgets': budgets,
    '0018-chat-tool-calls': chatToolCalls,
    '0019-traces': traces,
    '0020-webhook-endpoints': webhookEndpoints,
    '0021-paused-bindings': pausedBindings,
    '0022-sold-tasks': soldTasks,
    '0023-room-of-bindings': roomOfBindings,
    '0024-unlisted-files': unlistedFiles,
    '0025-upstreams-of-attempts': upstreamsOfAttempts,
    '0026-shares': shares,
    '0027-erasures': erasures,
    '0028-retention-marks': retentionMarks,
    '0029-names-of-bindings': namesOfBindings,
    '0031-handles-of-attempts': handlesOfAttempts,
    '0033-model-warnings': modelWarnings,
    '0034-fetched-models': fetchedModels,
    '0035-saved-workflows': savedWorkflows,
    '0036-closed-machines': closedMachines,
    '0037-conversations': conversations,
    '0039-left-replies': leftReplies,
    '0041-boards': boards,
    '0044-bulk-operations': bulkOperations,
    '0045-blake3': blake3,
    '0046-reply-images': replyImages,
  },
  indexes: {
    webhook_deliveries_of_task: 'unique media.webhook_deliveries (task_id) where endpoint_id is null',
    webhook_deliveries_by_task: 'media.webhook_deliveries (task_id)',
    webhook_deliveries_of_event:
      'unique media.webhook_deliveries (endpoint_id, event_id) where endpoint_id is not null',
    webhook_deliveries_of_endpoint: 'media.webhook_deliveries (endpoint_id, id)',
    task_steps_storing: `media.task_steps (binding) where state = 'STORING'`,
    tasks_ended: 'media.tasks (ended_at) where ended_at is not null',
    attempts_open_by_name: `media.attempts (binding_name) where state in ('STARTING', 'RUNNING')`,
    attempts_unknown: `media.attempts (upstream) where unknown_since is not null`,
    task_steps_unknown: `media.task_steps (binding) where unknown_since is not null`,
    attempts_handle: 'unique media.attempts (upstream, handle_hash) where handle_hash is not null',
    tasks_by_rare_state: `media.tasks (state, id desc) where state <> 'SUCCEEDED'`,
    idempotency_by_age: 'media.idempotency (created_at)',
    chat_costs_by_age: 'media.chat_costs (settled_at)',
    chat_costs_of_owner: 'media.chat_costs (owner)',
    media_kept_of_owner: `media.media (owner, id desc) where state <> 'DELETED'`,
    media_by_hash: 'media.media (owner, blake3) where blake3 is not null',
    provider_resources_of_owner: 'media.provider_resources (owner)',
  },
  checks: { webhook_deliveries_check: 'media.webhook_deliveries' },
};
