import { sql } from 'kysely';

import {
  readSections,
  rowsSection,
  type KeptRecord,
  type Section,
} from '../../../platform/database/record-sections.ts';
import type { WorkflowDatabase } from '../database/database.ts';
import type { MediaClient } from '../executions/media-client.ts';
import { hasGateway, storedFor } from './rows-of-gateways.ts';

/** All that is kept of a person, here and at media. */
export type PersonalData = ReturnType<typeof createPersonalData>;

/** Makes it. Keys, hashes and sealed secrets are left out. */
export function createPersonalData(database: WorkflowDatabase, media: Pick<MediaClient, 'personalData'>) {
  return {
    /** The next records after a cursor. BAD_USER_INPUT for what is no cursor, UNAVAILABLE while media is away. */
    read: (
      userId: string,
      {
        after,
        first,
        traceId,
      }: { readonly after: string | null; readonly first: number; readonly traceId: string },
    ): Promise<readonly KeptRecord[]> => {
      const ofMedia: Section = {
        name: 'media',
        read: (from, limit) => media.personalData({ owner: userId, after: from, first: limit }, traceId),
      };
      return readSections([...createSections(database, userId), ofMedia], after, first);
    },
  };
}

function createSections(database: WorkflowDatabase, userId: string): readonly Section[] {
  const ofUser = sql<boolean>`user_id = ${userId}`;
  const own = sql<boolean>`(owner = ${userId} or user_id = ${userId})`;
  return [
    rowsSection(database, {
      kind: 'account',
      from: sql.table('workflow.users'),
      where: sql<boolean>`id = ${userId}`,
      columns: 'id email name picture createdAt updatedAt',
    }),
    rowsSection(database, {
      kind: 'signIn',
      from: sql.table('workflow.platformUsers'),
      where: ofUser,
      id: sql`concat_ws('/', platform, app_id, subject)`,
      columns: 'platform appId subject unionId linkedAt lastLoginAt',
    }),
    rowsSection(database, {
      kind: 'session',
      from: sql.table('workflow.sessions'),
      where: ofUser,
      columns: 'id platform scope createdAt rotatedAt expiresAt revokedAt',
    }),
    rowsSection(database, {
      kind: 'execution',
      from: sql.table('workflow.executions'),
      where: own,
      columns: 'id templateCode status parameters externalId taskId error createdAt startedAt endedAt',
    }),
    rowsSection(database, {
      kind: 'payment',
      from: sql.table('workflow.payments'),
      where: own,
      columns:
        'id templateCode parameters status amount amountRefunded currency buyerEmail executionId createdAt updatedAt',
    }),
    rowsSection(database, {
      kind: 'refund',
      from: sql`(select refunds.*, payments.owner, payments.user_id from workflow.refunds
        join workflow.payments on payments.id = refunds.payment_id) as refunds`,
      where: own,
      columns: 'id paymentId amount reason status createdAt',
    }),
    ...ofGateways(database, userId),
    rowsSection(database, {
      kind: 'auditEntry',
      from: sql.table('audit.entries'),
      where: sql<boolean>`caller = ${userId}`,
      columns: 'id at what target address',
    }),
  ];
}

const CALLS = sql`(select batch_lines.*, batches.owner from gateway.batch_lines
  join gateway.batches on batches.id = batch_lines.batch) as calls`;

/** What gateways keep in this database, if any do. */
function ofGateways(database: WorkflowDatabase, userId: string): readonly Section[] {
  const own = sql<boolean>`owner = ${userId}`;
  const sections = [
    rowsSection(database, {
      kind: 'batch',
      from: sql.table('gateway.batches'),
      where: own,
      columns:
        'id endpoint inputFile metadata status total completed failed problems outputFile errorFile createdAt startedAt endedAt',
    }),
    rowsSection(database, {
      kind: 'batchCall',
      from: CALLS,
      where: own,
      id: sql`concat_ws('/', batch, lpad(index::text, 10, '0'))`,
      columns: 'batch index customId body status response',
    }),
    rowsSection(database, {
      kind: 'storedAnswer',
      from: sql.table('gateway.storedAnswers'),
      where: storedFor(userId),
      id: sql`concat_ws('/', operation, id)`,
      columns: 'operation id body storedAt',
    }),
  ];
  return sections.map((section) => ({
    name: section.name,
    read: async (after, limit) => ((await hasGateway(database)) ? section.read(after, limit) : []),
  }));
}
