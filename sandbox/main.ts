import { parseArgs } from 'node:util';

import { createLifecycle } from '../platform/lifecycle.ts';
import { createLogger } from '../platform/logger.ts';
import { createSandbox } from './sandbox.ts';

/**
 * The sandbox as a process of its own, so that "at most one start" can be measured outside of what a test kills.
 * `node sandbox/main.ts --port 0 --data DIR [--instant] [--small] [--log LEVEL]` prints one JSON line when it is ready:
 * {"url", "wires": {"midjourney", ...}, "issuer"}. Log lines go to the standard error.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    data: { type: 'string' },
    instant: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    log: { type: 'string', default: 'warn' },
  },
});

if (values.data === undefined) {
  process.stderr.write(
    'usage: node sandbox/main.ts --data DIR [--port N] [--instant] [--small] [--log LEVEL]\n',
  );
  process.exit(2);
}

const LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
const level = LEVELS.find((name) => name === values.log) ?? 'warn';
const logger = createLogger({ level, destination: { write: (line) => process.stderr.write(line) } });
const lifecycle = createLifecycle({ logger, graceMs: 5_000 });
lifecycle.onSignals();
const sandbox = await createSandbox({
  dataDir: values.data,
  port: Number(values.port),
  instantImages: values.instant,
  size: values.small ? 'small' : 'normal',
  logger,
});
lifecycle.add('sandbox', () => sandbox.close());
process.stdout.write(
  `${JSON.stringify({ url: sandbox.url, wires: sandbox.wires, issuer: sandbox.issuer })}\n`,
);
