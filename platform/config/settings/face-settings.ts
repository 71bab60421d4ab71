import { oneOf } from './formats.ts';
import { setting } from './setting.ts';

/** Settings of the faces: other people's protocols over the same operations. */
export const faceSettings = {
  MCP: setting(
    oneOf(['on', 'off']),
    'whether agents may call the tools at /mcp, as everybody else may call what they do (docs/mcp.md)',
    'on',
  ),
};
