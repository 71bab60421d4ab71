import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { Client } from 'pg';

import type { TestDatabase } from '../kit/database/postgres.ts';
import { isWhole } from '../kit/extent.ts';

/**
 * Learns how PostgreSQL ran each statement: its own module auto_explain tells every connection, as notices, which a relay
 * before the database reads on their way. What is told is what was run: with its values, and by the plan that it had.
 */

/** A node of a plan, as `explain (analyze, format json)` has it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Schema?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Sort Space Type'?: string;
  readonly 'Hash Batches'?: number;
  readonly 'HashAgg Batches'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** A statement that was run. */
export interface RunStatement {
  readonly text: string;
  readonly milliseconds: number;
  readonly plan: PlanNode;
}

/** A relay that tells what was run. */
export interface PlanRelay {
  /** DATABASE_URL of the database by way of this relay. */
  readonly url: string;
  stop(): void;
}

const TOLD_BY = /^duration: ([\d.]+) ms {2}plan:\n/;

/** Makes the database tell plans to all later connections, and starts the relay on a free port of 127.0.0.1. */
export async function startPlanRelay(
  { config }: TestDatabase,
  onStatement: (statement: RunStatement) => void,
): Promise<PlanRelay> {
  await explainAll(config);
  const server = createServer((near) => {
    const far = connect(`${config.host}/.s.PGSQL.${config.port}`);
    const read = createNoticeReader((message) => {
      const found = TOLD_BY.exec(message);
      if (found === null) return;
      const told = JSON.parse(message.slice(found[0].length)) as { 'Query Text': string; Plan: PlanNode };
      onStatement({ text: told['Query Text'], milliseconds: Number(found[1]), plan: told.Plan });
    });
    far.on('data', read);
    join(near, far);
    join(far, near);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://${config.user}@127.0.0.1:${port}/${config.database}`,
    stop: () => void server.close(),
  };
}

function join(from: Socket, to: Socket): void {
  from.on('error', () => undefined);
  from.pipe(to);
  from.once('close', () => to.destroy());
}

async function explainAll(config: TestDatabase['config']): Promise<void> {
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    // Reading the clock at each row would take longer than the work.
    'auto_explain.log_timing': 'off',
    'auto_explain.log_verbose': 'on',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
    // Also what keys to other tables ask.
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_parameter_max_length': '0',
    // PostgreSQL reads a small table whole even where an index would serve; so only where there is none.
    ...(isWhole ? {} : { enable_seqscan: 'off', random_page_cost: '1.1' }),
  };
  const client = new Client(config);
  await client.connect();
  for (const [name, value] of Object.entries(settings))
    // oxlint-disable-next-line eslint/no-await-in-loop -- of one connection
    await client.query(`alter database ${config.database} set ${name} = '${value}'`);
  await client.end();
}

/** Finds the texts of notices in what PostgreSQL sends: messages of a letter, a length that counts itself, and a body. */
function createNoticeReader(onNotice: (message: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 5) {
      const end = 1 + rest.readInt32BE(1);
      if (rest.length < end) return;
      if (rest[0] === 0x4e) onNotice(readMessage(rest.subarray(5, end)));
      rest = rest.subarray(end);
    }
  };
}

/** Of the fields, each a letter and a text that a zero ends, the one of the message. */
function readMessage(body: Buffer): string {
  const fields = body.toString('utf8').split('\0');
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? '';
}
