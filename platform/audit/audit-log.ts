import type { AuditRecorder } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import type { LateReads } from '../database/late-reads.ts';
import { toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';

/** The audit log: append-only rows of who did what, for administrators. */
export interface AuditLog extends AuditRecorder {
  /** Newest first, before an id; of one caller, and of one kind of action, when they are given. */
  list(filter: AuditFilter): Promise<readonly AuditEntry[]>;
  /** Removes entries older than AUDIT_RETENTION_DAYS, at most `limit`. */
  prune(limit: number): Promise<void>;
}

/** One row. */
export interface AuditEntry {
  readonly id: string;
  readonly at: Date;
  /** `anon`, `usr_...` or `key_...`. */
  readonly caller: string;
  readonly address: string | null;
  readonly what: string;
  readonly target: string | null;
  readonly traceId: string;
}

interface AuditFilter {
  readonly first: number;
  /** False leaves out what was only read. */
  readonly reads?: boolean;
  readonly before: string | null;
  readonly caller: string | null;
  readonly what: string | null;
}

export interface AuditLogOptions {
  /** Migrated (migrations.ts). */
  readonly database: Database;
  /** Where the log is read (default: the database itself). */
  readonly lateReads?: LateReads | undefined;
  /** Days that entries are kept; 0 forever. */
  readonly retentionDays: number;
  readonly logger: Logger;
}

const MAX_LENGTH = 200;
/** As the index entries_of_changes has it. */
const CHANGES = `and what not like 'read %'`;

/** Makes the log over the database that the subgraphs share. */
export function createAuditLog({ database, lateReads, retentionDays, logger }: AuditLogOptions): AuditLog {
  const { pool } = database;
  const read: LateReads['read'] = lateReads?.read ?? ((work) => work(database));
  return {
    async record({ id, address, traceId }, { what, target }) {
      try {
        await pool.query(
          'insert into audit.entries (caller, address, what, target, trace_id) values ($1, $2, $3, $4, $5)',
          [id, address, what, target?.slice(0, MAX_LENGTH) ?? null, traceId],
        );
      } catch (thrown) {
        // It has been done already; operators are told, with all that the row would hold but the target.
        logger.error({ error: toError(thrown), caller: id, what, traceId }, 'an audit entry was not written');
      }
    },
    async list({ first, before, caller, what, reads = true }) {
      // By the number: the answer's own id is a text, which sorts 9 after 10.
      const given = { 'id <': before, 'caller =': caller, 'what =': what };
      const wanted = Object.entries(given).filter(([, value]) => value !== null);
      const conditions = wanted.map(([condition], index) => `and ${condition} $${index + 2}`).join(' ');
      const { rows } = await read((at) =>
        at.pool.query<AuditEntry>(
          `/* audit.list */ select id::text, at, caller, address, what, target, trace_id as "traceId" from audit.entries
         where true ${reads ? '' : CHANGES} ${conditions} order by entries.id desc limit $1`,
          [first, ...wanted.map(([, value]) => value)],
        ),
      );
      return rows;
    },
    async prune(limit) {
      if (retentionDays === 0) return;
      await pool.query(
        `/* audit.prune */ with allowed as materialized (select set_config('audit.pruning', 'on', true))
         delete from audit.entries where id = any(array(
           select id from audit.entries, allowed where at < now() - make_interval(days => $1) order by at limit $2))`,
        [retentionDays, limit],
      );
    },
  };
}
