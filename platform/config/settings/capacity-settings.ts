import { z } from 'zod';

import { integer, natsAddresses, oneOf, processCount, redisAddress, text } from './formats.ts';
import { optional, setting } from './setting.ts';

/** Settings of how much one process does at once, of how it stops, and of what many processes share. */
export const capacitySettings = {
  CELL: setting(
    integer(0, 255),
    'number of this cell, a whole Kiln beside others (docs/scale.md); its new ids carry it. 0 is the first one, to which all ids without a number belong',
    '0',
  ),
  CELLS_FILE: optional(
    text,
    'JSON file with the addresses of all cells, and which of them signs callers in: {"home": 0, "cells": {"0": "https://a.example", "1": "https://b.example"}}; requests that name an id of another cell are passed on to it',
    'there is one cell',
  ),
  CONNECTION_LIMIT: setting(
    integer(0, 1_000_000),
    'most open connections, and most open WebSockets and streams, of one address (IPv6: /64) or caller; 0 = no bound. Behind a proxy set TRUST_PROXY',
    '2000',
  ),
  SOCKET_LIMIT: setting(
    integer(1, 1_000_000),
    'most open WebSockets, and most open streams, of one gateway; each needs a file descriptor and some 30 kB',
    '10000',
  ),
  UNREAD_MAX_BYTES: setting(
    integer(1_000_000, 4_000_000_000),
    'most bytes of HTTP answers, and of WebSocket messages, that one gateway keeps for clients that do not read; beyond them such clients are disconnected. An answer takes a few times its bytes of memory',
    '48000000',
  ),
  PLAN_CACHE_MB: setting(
    integer(1, 4_000),
    'most megabytes (estimated) of GraphQL documents that one gateway keeps parsed, planned and compiled; the least recently used go first',
    '64',
  ),
  ANONYMOUS_DOCUMENT_POINTS: setting(
    integer(1, 1_000),
    'most points (as RATE_LIMIT counts them) of one GraphQL document that is new and comes without a credential in compat and required; those of the console and of TRUSTED_DOCUMENTS have no bound',
    '2',
  ),
  TRUSTED_DOCUMENTS: optional(
    z.string(),
    `file with the GraphQL documents that callers without a credential may send to /graphql, as a manifest of persisted queries ({"operations": [{"body": "query ..."}]}); others but the console's are refused`,
    'any document',
  ),
  RATE_COUNTS: optional(
    oneOf(['process', 'database']),
    'where requests are counted without COUNTS_URL: process (each by itself) or database (together with all others that do). Set database where several whole Kilns serve one address',
    'database for a gateway with DATABASE_URL and with PROCESSES, else process',
  ),
  PROCESSES: setting(
    processCount,
    'processes that serve one port as one Kiln, under a supervisor that restarts what dies: a number, or auto (one for each core); roles all and gateway. In development it needs SANDBOX_URL',
    '1',
  ),
  DATABASE_POOL: setting(
    integer(2, 1_000),
    'most connections to PostgreSQL of one process, besides one that listens; waiting callers hold none. All processes together must stay below its max_connections',
    '10',
  ),
  DATABASE_PREPARE: setting(
    oneOf(['on', 'off']),
    'whether the most frequent statements are prepared once per connection; off behind a pooler in transaction mode that loses them (PgBouncer before 1.21)',
    'on',
  ),
  QUERY_TIMEOUT: setting(
    integer(1, 3_600),
    'seconds that a statement may take, and at most 5 of them that it may wait for a connection; beyond them the request answers UNAVAILABLE',
    '30',
  ),
  START_SLOTS: optional(
    integer(1, 10_000),
    'most starts of one binding under way in one worker, calls that answer with the result among them (these hold it as long as they take)',
    'the concurrency of the binding',
  ),
  POLL_SLOTS: setting(integer(1, 10_000), 'most status requests under way in one worker', '256'),
  STORE_SLOTS: setting(
    integer(1, 1_000),
    'most results that one worker fetches and stores at once. Callers, and the bindings of each, have these in turn. While a binding has more unstored results than twice its concurrency (at least 16), it starts less',
    '4',
  ),
  WORKER_GRACE_SECONDS: optional(
    integer(0, 86_400),
    'seconds that a worker which stops gives to calls that no other can take up (those that answer with the result), and a media process to the chats that run there; the rest is handed back at once',
    '300; 5 where one process is everything, but in production',
  ),
  DRAIN_SECONDS: optional(
    integer(0, 600),
    'seconds in which a gateway, media or workflow process that stops still serves while /readyz answers 503, so that load balancers and gateways send nothing more',
    '5 in production, else 0',
  ),
  STOP_GRACE_SECONDS: setting(
    integer(0, 3_600),
    'seconds that running requests get after that; synchronous operations that still wait then answer 503 with their task',
    '10',
  ),
  EVENTS_URL: optional(
    natsAddresses,
    'NATS server that tells processes what has changed, for more than one PostgreSQL can carry: nats:// or tls://user:password@host:4222, several of a cluster separated by commas; a path (/name) keeps Kilns apart that share one',
    'PostgreSQL tells them',
  ),
  COUNTS_URL: optional(
    redisAddress,
    'Redis or Valkey that counts requests for all gateways: redis:// or rediss://user:password@host:6379/0; while it is away they count as without it',
    'PostgreSQL counts for them',
  ),
};

export const CENTURY_DAYS = 36_500;

/** How long logs and tasks are kept. */
export const retentionSettings = {
  EVENT_RETENTION_DAYS: setting(
    integer(0, CENTURY_DAYS),
    'days that event logs are kept after the end of their task; 0 = forever',
    '30',
  ),
  TASK_RETENTION_DAYS: setting(
    integer(0, CENTURY_DAYS),
    'days that tasks are kept after their end, with prompt, log and the files they made (those of executions at least 30); 0 = forever',
    '0',
  ),
  PROMPT_RETENTION_DAYS: setting(
    integer(0, CENTURY_DAYS),
    'days that prompts, texts and parameters are kept after the end of their task or execution; 0 = as long as these',
    '0',
  ),
};
