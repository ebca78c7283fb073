// What javac says each call means: `java Opinion.java FOLDER` prints a line for every call written in the sources of a folder.
// file TAB line TAB kind TAB target file TAB target line; kind is method, constructor or class; - for targets outside.

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import com.sun.tools.javac.tree.JCTree;
import com.sun.tools.javac.tree.TreeInfo;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

public class Opinion extends TreePathScanner<Void, Void> {
  private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);
  private final Trees trees;
  private final SourcePositions positions;
  private final Path root;

  Opinion(Trees trees, Path root) {
    this.trees = trees;
    this.positions = trees.getSourcePositions();
    this.root = root;
  }

  public static void main(String[] arguments) throws IOException {
    Path root = Path.of(arguments[0]).toRealPath();
    List<Path> sources;
    try (Stream<Path> found = Files.walk(root)) {
      sources =
          found
              .filter(path -> path.toString().endsWith(".java"))
              .filter(path -> !path.endsWith("module-info.java") && !path.endsWith("package-info.java"))
              .sorted()
              .collect(Collectors.toList());
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    List<String> options = List.of("-proc:none", "-Xmaxerrs", "100000", "-nowarn");
    JavacTask task =
        (JavacTask) compiler.getTask(null, files, diagnostic -> {}, options, null, files.getJavaFileObjectsFromPaths(sources));
    Iterable<? extends CompilationUnitTree> units = task.parse();
    task.analyze();
    Opinion opinion = new Opinion(Trees.instance(task), root);
    for (CompilationUnitTree unit : units) {
      opinion.scan(unit, null);
    }
    OUT.flush();
  }

  @Override
  public Void visitMethodInvocation(MethodInvocationTree node, Void unused) {
    ExpressionTree select = node.getMethodSelect();
    CompilationUnitTree unit = getCurrentPath().getCompilationUnit();
    String name =
        select instanceof MemberSelectTree ? ((MemberSelectTree) select).getIdentifier().toString() : select.toString();
    long end = positions.getEndPosition(unit, select);
    long written = positions.getEndPosition(unit, node);
    if (end >= 0 && written > end) { // an implicit call of super() has no place
      report(end - name.length(), trees.getElement(new TreePath(getCurrentPath(), select)));
    }
    return super.visitMethodInvocation(node, unused);
  }

  @Override
  public Void visitNewClass(NewClassTree node, Void unused) {
    CompilationUnitTree unit = getCurrentPath().getCompilationUnit();
    long place = positions.getStartPosition(unit, node.getIdentifier());
    Element made = trees.getElement(new TreePath(getCurrentPath(), node.getIdentifier()));
    report(place, made);
    Element constructor = trees.getElement(getCurrentPath());
    if (constructor != null && constructor.getKind() == ElementKind.CONSTRUCTOR) {
      report(place, constructor);
    }
    return super.visitNewClass(node, unused);
  }

  /** The constructor that somebody wrote: one that the compiler makes (also of an anonymous class) runs that of the base. */
  private Element written(Element constructor) {
    Element current = constructor;
    for (int depth = 0; depth < 32 && current != null; depth++) {
      TreePath path = trees.getPath(current);
      if (path == null || !(path.getLeaf() instanceof MethodTree)) {
        return current;
      }
      MethodTree tree = (MethodTree) path.getLeaf();
      CompilationUnitTree unit = path.getCompilationUnit();
      if (positions.getEndPosition(unit, tree) > positions.getStartPosition(unit, tree)) {
        return current;
      }
      List<? extends StatementTree> statements = tree.getBody() == null ? List.of() : tree.getBody().getStatements();
      if (statements.isEmpty() || !(statements.get(0) instanceof ExpressionStatementTree)) {
        return current;
      }
      ExpressionTree call = ((ExpressionStatementTree) statements.get(0)).getExpression();
      if (!(call instanceof MethodInvocationTree)) {
        return current;
      }
      current = TreeInfo.symbol((JCTree) ((MethodInvocationTree) call).getMethodSelect());
    }
    return current;
  }

  private void report(long place, Element said) {
    CompilationUnitTree unit = getCurrentPath().getCompilationUnit();
    Element target = said != null && said.getKind() == ElementKind.CONSTRUCTOR ? written(said) : said;
    if (place < 0 || target == null) {
      return;
    }
    String kind =
        target.getKind() == ElementKind.CONSTRUCTOR
            ? "constructor"
            : target.getKind() == ElementKind.METHOD ? "method" : "class";
    String file = "-";
    long line = 0;
    TreePath found = trees.getPath(target);
    if (found != null) {
      Tree tree = found.getLeaf();
      long start = positions.getStartPosition(found.getCompilationUnit(), tree);
      long end = positions.getEndPosition(found.getCompilationUnit(), tree);
      if (start >= 0 && end > start) {
        file = shown(found.getCompilationUnit());
        line = found.getCompilationUnit().getLineMap().getLineNumber(start);
      }
    }
    OUT.println(
        shown(unit) + "\t" + unit.getLineMap().getLineNumber(place) + "\t" + kind + "\t" + file + "\t" + line);
  }

  private String shown(CompilationUnitTree unit) {
    return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
  }
}
