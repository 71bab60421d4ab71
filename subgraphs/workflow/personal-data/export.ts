import { sql } from 'kysely';

import {
  readSections,
  rowsSection,
  type KeptRecord,
  type Section,
} from '../../../platform/database/record-sections.ts';
import type { WorkflowDatabase } from '../database/database.ts';
import type { MediaClient } from '../executions/media-client.ts';

/** All that is kept of a person, here and at media. */
export interface PersonalData {
  /** The next records after a cursor. BAD_USER_INPUT for what is no cursor, UNAVAILABLE while media is away. */
  read(
    userId: string,
    page: { readonly after: string | null; readonly first: number; readonly traceId: string },
  ): Promise<readonly KeptRecord[]>;
}

/** Makes it. Keys, hashes and sealed secrets are left out. */
export function createPersonalData(
  database: WorkflowDatabase,
  media: Pick<MediaClient, 'personalData'>,
): PersonalData {
  return {
    read: (userId, { after, first, traceId }) => {
      const ofMedia: Section = {
        name: 'media',
        read: (from, limit) => media.personalData({ owner: userId, after: from, first: limit }, traceId),
      };
      return readSections([...sectionsOf(database, userId), ofMedia], after, first);
    },
  };
}

function sectionsOf(database: WorkflowDatabase, userId: string): readonly Section[] {
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
      kind: 'auditEntry',
      from: sql.table('audit.entries'),
      where: sql<boolean>`caller = ${userId}`,
      columns: 'id at what target address',
    }),
  ];
}
