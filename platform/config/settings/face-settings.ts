import { integer, oneOf } from './formats.ts';
import { openaiFaceSettings } from './openai-face-settings.ts';
import { setting } from './setting.ts';

/** Settings of REST and of the faces: other protocols over the same operations. */
export const faceSettings = {
  SYNC_MAX_WAIT: setting(
    integer(1, 3_600),
    'seconds that a synchronous operation waits when it has no max_wait_time',
    '500',
  ),
  MCP: setting(
    oneOf(['on', 'off']),
    'whether agents may call the tools at /mcp, as everybody else may call what they do (docs/mcp.md)',
    'on',
  ),
  ...openaiFaceSettings,
};
