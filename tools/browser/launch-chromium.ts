import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];

/** CHROMIUM_PATH, else the first browser on the PATH; null when there is none. */
export function findChromium({ CHROMIUM_PATH, PATH = '' }: NodeJS.ProcessEnv): string | null {
  if (CHROMIUM_PATH) return CHROMIUM_PATH;
  const files = PATH.split(path.delimiter).flatMap((folder) => NAMES.map((name) => path.join(folder, name)));
  return files.find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts a headless browser that can reach this machine alone, so that whatever is shown came from here. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    // Its own sandbox refuses the root user of a container.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // A page that a walk serves itself has no address; it may still open sockets to this machine.
      '--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets',
    ],
  });
}
