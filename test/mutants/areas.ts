/** A part of the code whose changes are counted together. */
interface Area {
  readonly folders: readonly string[];
  /** Folders below them that are areas of their own. */
  readonly without?: readonly string[];
}

/** The areas by the names they are asked for with. */
export const AREAS: Readonly<Record<string, Area>> = {
  executor: { folders: ['gateway/federation'] },
  tasks: { folders: ['subgraphs/media/tasks'] },
  'other-gateway': { folders: ['gateway'], without: ['gateway/federation'] },
  'rest-compat': { folders: ['rest-compat'] },
  providers: { folders: ['subgraphs/media/providers'] },
  'sign-in': { folders: ['subgraphs/workflow/sign-in'] },
  payments: { folders: ['subgraphs/workflow/payments'] },
  budgets: {
    folders: ['subgraphs/media/budgets', 'subgraphs/media/usage', 'subgraphs/media/generators/prices'],
  },
  platform: { folders: ['platform'] },
  console: { folders: ['console/src'] },
};

/** What is tests, what tests are made of, or generated. */
const NO_PRODUCT =
  /\.(test|fixture|contract)\.ts$|(^|\/)(fixtures|testing|migrations)\/|^(test|schema)\/|\.d\.ts$/;

/** The product's files of an area, or of a folder. */
export function filesOf(name: string, files: readonly string[]): readonly string[] {
  const { folders, without = [] } = AREAS[name] ?? { folders: [name] };
  const isIn = (file: string, folder: string): boolean => folder === '.' || file.startsWith(`${folder}/`);
  return files.filter(
    (file) =>
      folders.some((folder) => isIn(file, folder)) &&
      !without.some((folder) => isIn(file, folder)) &&
      !NO_PRODUCT.test(file),
  );
}
