import { z } from 'zod';

/** How much one caller may upload; 0: no bound. */
interface UploadQuota {
  readonly bytes: number;
  readonly files: number;
}

type Quotas = Readonly<Record<'anonymous' | 'user' | 'key', UploadQuota>>;

const DEFAULTS: Quotas = {
  anonymous: { bytes: 10 * 1024 ** 3, files: 1_000 },
  user: { bytes: 100 * 1024 ** 3, files: 10_000 },
  key: { bytes: 0, files: 0 },
};

/** UPLOAD_QUOTAS: class=bytes/files separated by commas; classes that are not named keep their default. */
export const uploadQuotas = z.string().transform((value, context): Quotas => {
  const found = value
    .split(',')
    .map((entry) => /^\s*(anonymous|user|key)\s*=\s*(\d{1,15})\s*\/\s*(\d{1,9})\s*$/.exec(entry));
  if (!found.includes(null)) {
    const named = found.map((entry) => [
      entry?.[1],
      { bytes: Number(entry?.[2]), files: Number(entry?.[3]) },
    ]);
    return { ...DEFAULTS, ...(Object.fromEntries(named) as Partial<Quotas>) };
  }
  const message =
    'must be a list such as anonymous=10737418240/1000,user=0/10000,key=0/0 (bytes/files, 0 = no bound)';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});
