// A selector of versions. Beside the folder of each version lies versions.js, which book/versions.py writes:
// it calls `showVersions` with all versions, the newest first, each with its pages. It is loaded as a script,
// which works from a file, too. A site that was built alone has no such file, and no selector.
(() => {
  const root = new URL("..", document.currentScript.src);
  const own = decodeURIComponent(root.pathname.split("/").at(-2));
  const page = decodeURIComponent(location.pathname.slice(root.pathname.length)) || "index.html";

  const addressOf = (version) =>
    new URL(`../${encodeURIComponent(version.name)}/${version.pages.includes(page) ? page : "index.html"}`, root);

  const addSelector = (versions) => {
    const choice = document.createElement("select");
    choice.className = "versions";
    choice.ariaLabel = "Version of this documentation";
    for (const version of versions) {
      choice.append(new Option(version.name, addressOf(version).href, false, version.name === own));
    }
    choice.addEventListener("change", () => location.assign(choice.value));
    document.querySelector(".md-header__title")?.after(choice);
  };

  const addNotice = (newest) => {
    const notice = document.createElement("p");
    const link = document.createElement("a");
    Object.assign(link, { href: addressOf(newest).href, textContent: `version ${newest.name}` });
    notice.className = "outdated";
    notice.append(`This page is about version ${own}. The newest is `, link, ".");
    document.querySelector(".md-content__inner")?.prepend(notice);
  };

  window.showVersions = (versions) => {
    if (!versions.some((version) => version.name === own)) return;
    addSelector(versions);
    if (versions[0].name !== own) addNotice(versions[0]);
  };
  const list = document.createElement("script");
  list.src = new URL("../versions.js", root).href;
  document.head.append(list);
})();
