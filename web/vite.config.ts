import { defineConfig, type Plugin } from "vite";

/** Puts the script and the style sheet into the HTML, so that the page is one file. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const html = bundle["index.html"];
      if (html?.type !== "asset") return;
      let text = String(html.source);
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === "chunk") {
          // `</script` inside the code would end the element; `<!--` would change how it is parsed.
          const code = item.code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
          text = text.replace(/<script type="module"[^>]*><\/script>/, () => "");
          text = text.replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          text = text.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${String(item.source)}</style>`);
          delete bundle[name];
        }
      }
      html.source = text;
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  build: {
    // the crate that serves the page carries it
    outDir: "../crates/view/page",
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 1_000_000,
    chunkSizeWarningLimit: 1300,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
});
