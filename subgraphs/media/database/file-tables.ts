import type { ColumnType, Generated } from 'kysely';

import type { Json } from '../../../platform/json.ts';

/** One row of "media"."media": a stored file, or one that is on its way in or out. */
export interface MediaTable {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  /** Where its bytes are in the object store. */
  readonly object_key: string;
  readonly content_type: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly width: Generated<number | null>;
  readonly height: Generated<number | null>;
  /** Seconds. */
  readonly duration: Generated<number | null>;
  /** The task that made it; null for uploads. */
  readonly task_id: Generated<string | null>;
  /** INCOMING: its bytes are being stored. DELETED: its bytes are being removed. Only STORED ones are ever shown. */
  readonly state: MediaState;
  /** When the pruner may take it, unless it is claimed before; null: it stays. */
  readonly temporary_until: Date | null;
  readonly created_at: Generated<Date>;
  /** Of the token that deletes it (platform/access/manage-token.ts); null: its owner alone does. */
  readonly manage_token_hash: Generated<string | null>;
}

type MediaState = 'INCOMING' | 'STORED' | 'DELETED';

/** One row of "media"."provider_resources": a file of ours that a provider keeps a copy of. */
export interface ProviderResourceTable {
  readonly media_id: string;
  readonly provider: string;
  /** Which account of the provider has it. */
  readonly account: string;
  readonly owner: string;
  /** The provider's own id of it. */
  readonly resource_id: string;
  readonly uri: string | null;
  /** What the provider answered to the upload. */
  readonly answer: ColumnType<Json, string, string>;
  /** Null: it stays until it is deleted there. */
  readonly expires_at: Date | null;
  readonly created_at: Generated<Date>;
}

/** The tables of files, named with their schema. */
export interface FileTables {
  readonly 'media.media': MediaTable;
  readonly 'media.provider_resources': ProviderResourceTable;
}
