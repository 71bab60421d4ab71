import { parseArgs } from 'node:util';

import { createLifecycle } from '../platform/process/lifecycle.ts';
import { createLogger } from '../platform/process/logger.ts';
import { createSandbox } from './sandbox.ts';

/**
 * The sandbox as a process of its own, so that it survives when a test kills Kiln.
 * `node sandbox/main.ts --port 0 --data DIR [--kiln URL] [--instant] [--small] [--log LEVEL]` prints one JSON line when
 * it is ready: {"url", "wires": {"midjourney", ...}, "issuer"}. Log lines go to the standard error.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    data: { type: 'string' },
    kiln: { type: 'string' },
    instant: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    log: { type: 'string', default: 'warn' },
  },
});

const kilnUrl = values.kiln === undefined ? undefined : parseAddress(values.kiln);
if (values.data === undefined || kilnUrl === null) {
  process.stderr.write(
    'usage: node sandbox/main.ts --data DIR [--port N] [--kiln URL] [--instant] [--small] [--log LEVEL]\n',
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
  ...(kilnUrl === undefined ? {} : { kilnUrl }),
  instantImages: values.instant,
  size: values.small ? 'small' : 'normal',
  logger,
});
lifecycle.add('sandbox', () => sandbox.close());
process.stdout.write(
  `${JSON.stringify({ url: sandbox.url, wires: sandbox.wires, issuer: sandbox.issuer })}\n`,
);

/** An http or https address without a slash at its end; null when it is none. */
function parseAddress(text: string): string | null {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? text.replace(/\/+$/, '') : null;
}
