import java.nio.file.Path;
import java.util.List;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Neo4j with Graph Data Science from the jars on the class path. Arguments: home folder, plugins folder, host, port. */
public class Server {
    public static void main(String[] arguments) throws Exception {
        var address = new SocketAddress(arguments[2], Integer.parseInt(arguments[3]));
        var service = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
                .setConfig(GraphDatabaseSettings.plugin_dir, Path.of(arguments[1]))
                .setConfig(GraphDatabaseSettings.procedure_unrestricted, List.of("gds.*"))
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, address)
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        Thread.currentThread().join();
    }
}
