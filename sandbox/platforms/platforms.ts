import type { Wire } from '../http/wire.ts';
import { type AlipayKeys, createAlipayStandIn } from './alipay.ts';
import { createDouyinStandIn } from './douyin.ts';
import { createWechatStandIn } from './wechat.ts';

/** The addresses of the platforms, as their settings take them. */
export interface SandboxPlatforms {
  readonly wechat: string;
  readonly douyin: string;
  readonly alipay: { readonly baseUrl: string; readonly keys: () => Promise<AlipayKeys> };
}

/** The stand-ins of the platforms; they have no jobs. */
export interface PlatformStandIns {
  readonly wires: readonly Wire[];
  /** Their addresses at this origin. */
  at(origin: string): SandboxPlatforms;
}

/** Creates all platforms. A new one is a file here and a line. */
export function createPlatformStandIns(): PlatformStandIns {
  const { wire: alipay, keys } = createAlipayStandIn();
  return {
    wires: [createWechatStandIn(), createDouyinStandIn(), alipay],
    at: (origin) => ({
      wechat: `${origin}/wechat`,
      douyin: `${origin}/douyin`,
      alipay: { baseUrl: `${origin}/alipay`, keys },
    }),
  };
}
