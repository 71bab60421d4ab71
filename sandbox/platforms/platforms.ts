import type { KeyObject } from 'node:crypto';

import type { Wire } from '../http/wire.ts';
import { createAlipayStandIn } from './alipay.ts';
import { createDouyinStandIn } from './douyin.ts';
import { createWechatStandIn } from './wechat.ts';

/** The addresses of the platforms, as their settings take them. */
export interface SandboxPlatforms {
  readonly wechat: string;
  readonly douyin: string;
  readonly alipay: {
    readonly baseUrl: string;
    /** The app's own key. */
    readonly privateKey: KeyObject;
    /** Alipay's public key for the app. */
    readonly platformKey: KeyObject;
  };
}

/** The stand-ins of the platforms; they have no jobs. */
export interface PlatformStandIns {
  readonly wires: readonly Wire[];
  /** Their addresses at this origin. */
  at(origin: string): SandboxPlatforms;
}

/** Creates all platforms. A new one is a file here and a line. */
export async function createPlatformStandIns(): Promise<PlatformStandIns> {
  const { wire: alipay, privateKey, platformKey } = await createAlipayStandIn();
  return {
    wires: [createWechatStandIn(), createDouyinStandIn(), alipay],
    at: (origin) => ({
      wechat: `${origin}/wechat`,
      douyin: `${origin}/douyin`,
      alipay: { baseUrl: `${origin}/alipay`, privateKey, platformKey },
    }),
  };
}
