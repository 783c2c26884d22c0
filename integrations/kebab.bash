# Choose hits and documents with fzf. Source this file from ~/.bashrc or ~/.zshrc.

# Search, choose a passage with a preview, and open it in the editor.
kebab-pick() {
  local reference
  reference=$(
    kebab search -n 50 --json -- "$@" |
      jq -r '.hits[] | [.citation.uri, .confidence, (.heading_path | join(" > "))] | @tsv' |
      fzf --delimiter='\t' --with-nth=1,2,3 --preview='kebab fetch {1} --context 5' |
      cut -f1
  ) || return
  [ -n "$reference" ] && kebab open "$reference"
}

# Choose a document, and print its path.
kebab-doc() {
  kebab list --json | jq -r '.documents[] | [.doc_path, .title] | @tsv' |
    fzf --delimiter='\t' --preview='kebab outline {1}' | cut -f1
}
