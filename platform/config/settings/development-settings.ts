import { httpAddress, oneOf, trueOrFalse } from './formats.ts';
import { optional } from './setting.ts';

/** Settings of the sandbox and of the console's build. */
export const developmentSettings = {
  SANDBOX_AUTO_PAY: optional(
    trueOrFalse,
    'true lets a success call pay its checkout at the sandbox first; false requires the hosted page',
    'on in development',
  ),
  SANDBOX_URL: optional(
    httpAddress,
    'origin of a sandbox that runs elsewhere (docs/sandbox.md), instead of the embedded one, which split processes have not; development only',
    'embedded in development',
  ),
  CONSOLE_BUILD: optional(
    oneOf(['on', 'off']),
    'build the console (/console) in the background at the start when it is missing or older than its sources',
    'on in development, off in production',
  ),
};
