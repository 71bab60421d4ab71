import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { until } from '../kit/clients/requests.ts';
import { freePorts } from '../kit/processes/free-ports.ts';

/** Starts stripe-mock where it is installed. Loaded then alone, so that its test shares a process where it is not. */
export async function startStripeMock(program: string) {
  const [port = 0] = await freePorts(1);
  const child = spawn(program, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await until(answers, Boolean);
  const gone = once(child, 'exit');
  return {
    url,
    async stop() {
      child.kill();
      await gone;
    },
  };
}
