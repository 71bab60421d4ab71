import path from 'node:path';

import { API } from 'typescript/unstable/async';

/** The types of a copy of the project, kept in memory: only what a change touches is looked at again. */
export interface Types {
  /** Whether these files have no errors, now that the first of them was written. */
  hold(changed: string, users: Iterable<string>): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens the projects of a copy. */
export async function openTypes(root: string): Promise<Types> {
  const api = new API({ cwd: root });
  const openProjects = ['tsconfig.json', 'console/tsconfig.json'].map((name) => path.join(root, name));
  let snapshot = await api.updateSnapshot({ openProjects });
  /** The file changed before, which is as it was again: the checker must read it anew, or its errors stay in the files that use it. */
  let last: string | undefined;
  return {
    async hold(changed, users) {
      const before = snapshot;
      const written = [...new Set([last ?? changed, changed])].map((name) => path.join(root, name));
      last = changed;
      snapshot = await api.updateSnapshot({ fileChanges: { changed: written } });
      await before.dispose();
      for (const file of [changed, ...users].map((name) => path.join(root, name))) {
        const program = (await snapshot.getDefaultProjectForFile(file))?.program;
        if (program === undefined) throw new Error(`no tsconfig.json includes ${file}`);
        if ((await program.getSemanticDiagnostics(file)).length > 0) return false;
      }
      return true;
    },
    close: () => api.close(),
  };
}
